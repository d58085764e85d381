"""Rules about speed on the device."""
