"""What a module keeps in collections, and whether anything registers it."""
