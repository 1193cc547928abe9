"""Whether steps are slower once the recorder has looked closely."""
