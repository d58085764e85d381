"""Schedules of learning rates: moved on too early, never, in another unit than they count in, or scaled in each step."""
