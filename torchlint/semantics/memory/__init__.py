"""Which object a value is, who shares its memory, and who changes it."""
