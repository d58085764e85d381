"""What can be set, where it is found, and which files a run is about."""
