"""From events to diagnostics: the rule interface, the registry and the runs over files."""
