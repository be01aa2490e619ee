/** The text of each failed check of a verification or of the integrity sweep (docs/auditor.md). */
const said: Readonly<Record<string, string>> = {
  provenance_hash_matches: 'The record is not what was hashed: its content was changed.',
  provenance_cosign_valid: 'The cosignature does not fit: it was changed, or made without the key.',
  schema_version_supported: 'It names a version of the schema that this Hub does not know.',
  no_active_legal_hold_violation: 'It was purged while a legal hold was over it, or without a release.',
  seal_present: 'The log names a seal that is not stored any more.',
  seal_in_log: 'The seal is not the one that the log has at that place.',
  leaves_accounted_for: 'Records that were sealed are gone, without an erasure that tells of it.',
  leaf_claimed_once: 'Two records claim one place in the seal, or one claims a place that there is not.',
  record_in_log: 'No entry of the log explains the record: it was put in.',
  state_follows_events: 'It is purged or restored, and its events say otherwise.',
  tombstone_present: 'An event tells of its erasure, and nothing is left in its place.',
  content_erasure_proven: 'Content under a destroyed key, which no event of the destruction explains.',
  tombstone_proven: 'It was erased without an event that backs it, or before its recovery buffer was over.',
  release_present: 'An event tells of its release, which is gone.',
  release_proven: 'A release that no event tells of as it stands: it was put in or edited.',
  hold_present: 'Events tell of a legal hold that is gone.',
  hold_end_present: 'Events tell of the end of a legal hold, which its row does not know.',
  hold_proven: 'A legal hold that no event tells of as it stands: it was put in or edited.',
  hold_end_proven: 'An end of a legal hold that no event tells of. It does not count: the hold keeps.',
  retention_proven: 'The retention rules are not those of the last event that tells of them.',
  log_entries_complete: 'Entries of the log are missing, or there are some beyond its end.',
  log_tree_readable: 'Hashes of the stored log are missing.',
  log_tree_matches_head: 'The stored log does not lead to the root that was signed.',
  log_head_present: 'The signed end of the log is gone.',
  log_head_signed: 'No key of the tenant signed the end of the log.',
  kept_checkpoint_signed: 'A checkpoint that was kept is by no key of the tenant.',
  log_continues_kept_checkpoint: 'The log was set back, or has another history than one that was kept.',
  readable: 'A stored value is none that can be there.',
  keys_genuine: 'A stored key was not made by the Hub.',
  keys_introduced: 'A key that no key before it introduced.',
  keys_published: 'The published keys are not those that are stored.',
  sweep_claim_ends: 'Somebody tried to keep the sweeper from looking. It looks again.',
  sweep_readable: 'What was stored of the progress of the sweeper cannot be read. It begins anew.',
  report_proven: 'Somebody wrote beforehand that this had been reported, to keep it quiet.',
}

/** Returns the meaning of a failed check. */
export function meaningOf(check: string): string {
  return (Object.hasOwn(said, check) && said[check]) || 'Something stored is not as the Hub left it.'
}
