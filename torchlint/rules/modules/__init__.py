"""How modules are made and called: what is registered, initialised, shared, used."""
