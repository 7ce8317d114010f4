"""How every run ends, once its measurements are on disk: one order for all verbs."""
