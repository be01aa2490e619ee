import { type Database, readTenant, type TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { ReservedBytes } from '../files/reserved-bytes.ts'
import {
  erasedOf,
  holdsDuring,
  type PackHold,
  type PackPeriod,
  type PackPerson,
  type PackPurge,
  peopleAfter,
  purgedOf,
} from './evidence-store.ts'
import { listedMax } from './period-rows.ts'
import { LinesFile, type PackedFile } from './stored-file.ts'

const pageRows = 500
const noUuid = '00000000-0000-0000-0000-000000000000'

/** A list as a file, with its first rows for the report. */
export interface PackedList<Row> {
  file: PackedFile
  count: number
  listed: Row[]
}

interface ListContext {
  database: Database
  tenant: Tenant
  period: PackPeriod
  storage: Storage
  keyOf(name: string): string
  reserved: ReservedBytes
  signal: AbortSignal
  /** Returns the deletion certificate of a record as JSON. */
  certificateOf(recordId: string): Promise<string>
}

/** Writes the lists of a pack that are no records: people, holds, purged records, deletion certificates. */
export async function writePackLists(context: ListContext) {
  const { period, certificateOf } = context
  const asJson = async (row: unknown) => JSON.stringify(row)
  return {
    certificates: await writeList(context, 'deletion-certificates.jsonl', {
      read: (tx, after) => erasedOf(tx, period, after ?? noUuid, pageRows),
      idOf: (row) => row.record_id,
      line: ({ record_id }) => certificateOf(record_id),
    }),
    purged: await writeList<PackPurge>(context, 'purged-records.jsonl', {
      read: (tx, after) => purgedOf(tx, period, after ?? noUuid, pageRows),
      idOf: (row) => row.record_id,
      line: asJson,
    }),
    holds: await writeList<PackHold>(context, 'holds.jsonl', {
      read: (tx, after) => holdsDuring(tx, period, after ?? noUuid, pageRows),
      idOf: (row) => row.hold_id,
      line: asJson,
    }),
    people: await writeList<PackPerson>(context, 'people.jsonl', {
      read: (tx, after) => peopleAfter(tx, after ?? '', pageRows),
      idOf: (row) => row.user_id,
      line: asJson,
    }),
  }
}

async function writeList<Row extends object>(
  { database, tenant, storage, keyOf, reserved, signal }: ListContext,
  name: string,
  list: {
    read(tx: TenantTx, after: string | undefined): Promise<Row[]>
    idOf(row: Row): string
    line(row: Row): Promise<string>
  },
): Promise<PackedList<Row>> {
  const lines = new LinesFile(storage, keyOf(name), { name, reserved })
  const listed: Row[] = []
  try {
    let page: Row[]
    let after: string | undefined
    do {
      signal.throwIfAborted()
      page = await readTenant(database, tenant.slug, (tx) => list.read(tx, after), { inIndexOrder: true })
      for (const row of page) {
        await lines.add(await list.line(row))
        if (listed.length < listedMax) listed.push(row)
      }
      after = page.length > 0 ? list.idOf(page.at(-1)!) : after
    } while (page.length === pageRows)
    return { file: await lines.finish(), count: lines.lines, listed }
  } catch (error) {
    await lines.abort()
    throw error
  }
}
