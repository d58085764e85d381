"""Schedules of learning rates: moved on too early, never, or in another unit than they were made for."""
