import type { ExportFileNames, ExportOrder } from '../exports-types.ts'

/** Names of the file and of what proves it. */
export function fileNames({
  jobId,
  format,
  compression,
}: Pick<ExportOrder, 'jobId' | 'format' | 'compression'>): ExportFileNames {
  const file = `${jobId}.${format}${compression === 'gzip' ? '.gz' : ''}`
  return { file, manifest: `${file}.manifest.json` }
}

/** Where a file of an export is kept. */
export function keyOf(tenant: string, jobId: string, fileName: string): string {
  return `exports/${tenant}/${jobId}/${fileName}`
}

/** The keys of all that is written for an export; the last is there only while it is written. */
export function keysOf(tenant: string, order: Pick<ExportOrder, 'jobId' | 'format' | 'compression'>) {
  const { file, manifest } = fileNames(order)
  const key = (name: string) => keyOf(tenant, order.jobId, name)
  return { file: key(file), manifest: key(manifest), seals: key(`${file}.seals`) }
}
