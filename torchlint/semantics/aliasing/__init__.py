"""Where it matters that values share their memory: changes that show elsewhere, copies that are none or are not needed."""
