"""Verifies evidence packs, independently of the Hub's code; written from docs/evidence-packs.md and docs/provenance*.md."""

from .pack import PackReport, verify_pack
from .report import Failure

__all__ = ["Failure", "PackReport", "verify_pack"]
