"""What the constructors of modules do: initialise the base class, and make the modules that a file makes."""
