"""Texts of exact lengths and shared beginnings, which are sent as prompts to language models."""
