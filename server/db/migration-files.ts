import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
  /** SHA-256 of the file in hexadecimal; it reveals a later change. */
  readonly checksum: string
}

/**
 * Reads the migrations of a directory, `NNNN-name.sql`, in order.
 *
 * @throws Error if a number is missing or used twice
 */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (file, index) => {
      const [, number, name] = /^(\d{4})-([a-z0-9-]+)\.sql$/.exec(file) ?? []
      if (number === undefined || name === undefined || Number(number) !== index + 1) {
        throw new Error(`migration ${file} should be number ${String(index + 1).padStart(4, '0')}`)
      }
      const sql = await readFile(join(directory, file), 'utf8')
      return { version: index + 1, name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}
