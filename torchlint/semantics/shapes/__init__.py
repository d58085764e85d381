"""Which axes a tensor has, how many, and of what size; and its dtype."""
