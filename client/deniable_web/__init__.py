"""The browser's half of Deniable: ES modules that the collector serves as they are."""
