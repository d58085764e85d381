"""Rules about comments to linters."""
