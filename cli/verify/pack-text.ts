import { evidenceFiles } from '../../provenance/evidence-pack.ts'
import { counted } from '../output.ts'
import type { CheckedPack } from './evidence-pack.ts'

export function packTitle({ manifest }: CheckedPack): string {
  if (manifest === undefined) return 'Evidence pack without a readable manifest'
  const { job_id, tenant_id, from, to } = manifest.pack
  return `Evidence pack ${JSON.stringify(job_id)} of ${JSON.stringify(tenant_id)}, ${JSON.stringify(from)} to ${JSON.stringify(to)}`
}

/** Returns the scope of the checks of an evidence pack. */
export function packLines({ files, records, range, certificates, eventRows, completeness }: CheckedPack): string[] {
  return [
    `${files} of ${evidenceFiles.length} files: size and SHA-256 as the signed manifest says`,
    ...(records === undefined
      ? []
      : [
          `${counted(records.checked, 'record')}, ${records.failed} failed: hash, place in the seal and cosignature of each`,
          `${records.manifest?.leftOut ?? 'unknown'} records left out: outside of the period, purged or erased`,
        ]),
    `${counted(eventRows, 'event')} in files of their own, ${counted(certificates, 'deletion certificate')}`,
    ...(range === undefined ? [] : [`log: entries ${range.from} to ${range.to} of ${range.treeSize}`]),
    `completeness: ${completenessText[completeness]}`,
    'not proved: people, holds, usage and the verification by the Hub are statements that the Hub signed',
  ]
}

const completenessText: Readonly<Record<CheckedPack['completeness'], string>> = {
  enclosed: 'no log entry of the period is missing between the checkpoints from before and after it',
  'open-start':
    'no log entry is missing from the first one listed to the checkpoint after the period; ' +
    'no checkpoint from before the period is stored, so that earlier entries are not shown',
  'not-shown': 'NOT shown',
}
