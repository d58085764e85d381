"""What several processes do together: whose gradients they share, and what all of them have to call."""
