"""What `load_state_dict` loads into, and what it gives."""
