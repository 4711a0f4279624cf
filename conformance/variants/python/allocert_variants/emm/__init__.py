"""EMM plugins that use what the texts leave open."""
