import type { StepName } from './steps.ts'

/** The title of each step, the meaning of its failure, and advice. */
export const stepLabels: Readonly<Record<StepName, { title: string; means: string; remedy: string }>> = {
  record: {
    title: 'The record that was asked for',
    means: 'The Hub answered something else than it was asked for, perhaps a genuine record in the place of another.',
    remedy: 'Do not use what is shown. Tell the operator and the auditor of the tenant.',
  },
  hash: {
    title: 'Canonical text has the stored hash',
    means: 'Somebody changed what the record says, or its hash, after it was sealed.',
    remedy:
      'Do not rely on this content. A copy from an earlier export, checked with hub verify, still has the original.',
  },
  leaf: {
    title: 'Hash and salt make a leaf of the seal',
    means: 'The hash or cosignature is damaged or was replaced, so nothing ties the record to a seal.',
    remedy: 'Do not rely on this record. Have the operator run hub log audit.',
  },
  path: {
    title: 'The path leads to the root of the seal',
    means: 'The record is not part of the seal that it names.',
    remedy: 'Do not rely on this record. Have the operator run hub log audit.',
  },
  keys: {
    title: 'Published keys follow from those this browser knows',
    means: 'Somebody put in a key, took one away, or answers for another log.',
    remedy:
      'Compare the key ids below with those the operator publishes elsewhere. Until they agree, trust nothing that the unknown key signed.',
  },
  signature: {
    title: 'A trusted key signed the seal',
    means: 'Record, hash or cosignature were made or changed by somebody without the key of this log.',
    remedy: 'Do not rely on this record. Tell the operator and the auditor of the tenant.',
  },
  log: {
    title: 'The seal is in the tenant’s log',
    means: 'The seal was never taken into the log, was taken out, or is not the one that stands there.',
    remedy: 'Have the operator run hub log audit, with a checkpoint that was kept outside the Hub.',
  },
  checkpoint: {
    title: 'A trusted key signed the newest state',
    means: 'The Hub shows a state of the log that nobody with its key signed, or that was changed since.',
    remedy: 'Keep the signed state below. Tell the operator and the auditor of the tenant.',
  },
  history: {
    title: 'The log goes on from what this browser saw',
    means: 'The Hub shows another history than before: the log was rewritten, set back, or is shown in two versions.',
    remedy:
      'Keep the values below. Have the operator run hub log audit --against a checkpoint that was kept. After a restore from a backup the operator announced, forget what this browser keeps.',
  },
}
