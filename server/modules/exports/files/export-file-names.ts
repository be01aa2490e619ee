import type { ExportFileNames, ExportOrder } from '../exports-types.ts'

/** Returns the names of the file and of its manifest. */
export function fileNames({
  jobId,
  format,
  compression,
}: Pick<ExportOrder, 'jobId' | 'format' | 'compression'>): ExportFileNames {
  const file = `${jobId}.${format}${compression === 'gzip' ? '.gz' : ''}`
  return { file, manifest: `${file}.manifest.json` }
}

/** Returns the storage key of a file of an export. */
export function keyOf(tenant: string, jobId: string, fileName: string): string {
  return `exports/${tenant}/${jobId}/${fileName}`
}

/** Returns the keys of all files of an export; the last one exists only during the write. */
export function keysOf(tenant: string, order: Pick<ExportOrder, 'jobId' | 'format' | 'compression'>) {
  const { file, manifest } = fileNames(order)
  const key = (name: string) => keyOf(tenant, order.jobId, name)
  return { file: key(file), manifest: key(manifest), seals: key(`${file}.seals`) }
}
