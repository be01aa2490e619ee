import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from '@duckdb/node-api'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { csvCell, typedColumns, typedValue } from '../../contract/export-columns.ts'
import { canonicalize } from '../../provenance/index.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { snippetsOf } from '../support/page-snippets.ts'
import { type ExportLab, linesOf, mixedDrafts, openExportLab, type WrittenFiles } from './files-lab.ts'

type Record = ReturnType<typeof linesOf>[number]

let lab: ExportLab
let tenant: Tenant
let duckdb: DuckDBConnection
let records: Record[]
let empty: Tenant

beforeAll(async () => {
  lab = await openExportLab()
  tenant = await lab.openTenant('acme')
  empty = await lab.openTenant('globex')
  const ids = await lab.writeRecords(tenant, ...mixedDrafts())
  await lab.writeRecords(tenant, {
    recordType: 'artifact',
    fields: { title: 'Linked' },
    relatedRecords: ids.slice(0, 200),
  })
  // More than the database keeps in a row, with what has more bytes than characters.
  const huge = `${'é"\n,'.repeat(60_000)}\u{1F600}`
  await lab.writeRecords(tenant, { recordType: 'output', fields: { skill_id: 'sum-up', content: huge } })
  records = linesOf((await lab.export(tenant)).text)
  duckdb = await (await DuckDBInstance.create(':memory:')).connect()
  await duckdb.run("set timezone = 'UTC'")
})
afterAll(async () => {
  duckdb.closeSync()
  await lab.drop()
})

async function rowsOf(sql: string): Promise<{ [column: string]: DuckDBValue }[]> {
  return (await duckdb.runAndReadAll(sql)).getRowObjects()
}

async function typesOf(from: string): Promise<Map<string, string>> {
  const columns = await rowsOf(`describe select * from ${from}`)
  return new Map(columns.map((column) => [String(column.column_name), String(column.column_type)]))
}

const text = (value: unknown) => `'${String(value).replaceAll("'", "''")}'`

test('the statements of docs/exports.md find the records, in each format', async () => {
  const [page] = snippetsOf('docs/exports.md').filter(({ name }) => name.endsWith(': sql'))
  const statements = page!.code.trimEnd().split('\n')
  const formats = statements.map((statement) => /exp_….(jsonl|csv|parquet)'/.exec(statement)?.[1])
  expect(formats).toEqual(['jsonl', 'parquet', 'csv'])
  for (const [at, statement] of statements.entries()) {
    const { path } = await lab.export(tenant, { format: formats[at] as 'jsonl' | 'csv' | 'parquet' })
    expect(await rowsOf(statement.replace(/'exp_….\w+'/, text(path)))).not.toEqual([])
  }
})

describe('DuckDB opens JSON Lines', () => {
  test.each([null, 'gzip'] as const)('with compression %s', async (compression) => {
    const { path } = await lab.export(tenant, { compression })
    const from = `read_json_auto(${text(path)}, maximum_object_size = 100000000, sample_size = -1)`
    const rows = await rowsOf(
      `select record_id, title, record_type, size_bytes, created_at, related_records from ${from}`,
    )
    expect(rows).toHaveLength(records.length)
    for (const [at, row] of rows.entries()) {
      const { record_id, record_type, title = null, size_bytes } = records[at]!
      expect([String(row.record_id), row.record_type, row.title]).toEqual([record_id, record_type, title])
      expect(row.size_bytes).toBe(size_bytes === undefined ? null : BigInt(size_bytes as number))
    }
    const types = await typesOf(from)
    expect(types.get('success')).toBe('BOOLEAN')
    expect(types.get('latency_ms')).toBe('BIGINT')
    expect(types.get('created_at')).toMatch(/^TIMESTAMP/)
    expect(types.get('related_records')).toBe('UUID[]')
  })

  test('without a row', async () => {
    const { path, rows } = await lab.export(empty)
    expect(rows).toBe(0)
    expect(await rowsOf(`select * from read_json_auto(${text(path)})`)).toEqual([])
  })
})

describe('DuckDB opens Parquet', () => {
  test.each([
    { verify: false, includeProvenance: true },
    { verify: true, includeProvenance: false },
  ])('with %o', async (options) => {
    const { path, rows, manifest } = await lab.export(tenant, { format: 'parquet', ...options })
    expect(rows).toBe(records.length)
    const from = `read_parquet(${text(path)})`
    const types = await typesOf(from)
    const expected = {
      text: 'VARCHAR',
      json: 'VARCHAR',
      timestamp: 'TIMESTAMP WITH TIME ZONE',
      integer: 'BIGINT',
      number: 'DOUBLE',
      boolean: 'BOOLEAN',
    }
    for (const { name, type } of typedColumns) expect([name, types.get(name)]).toEqual([name, expected[type]])
    expect([...types.keys()].slice(typedColumns.length)).toEqual([
      ...(options.includeProvenance ? ['canonical', 'provenance_hash', 'provenance_cosign'] : []),
      ...(options.verify ? ['verified'] : []),
    ])
    const stamped = typedColumns.map(({ name, type }) => (type === 'timestamp' ? `epoch_us(${name}) as ${name}` : name))
    const found = await rowsOf(`select ${stamped.join()} from ${from}`)
    for (const [at, row] of found.entries()) expect(row).toEqual(parquetRow(records[at]!))
    if (options.verify)
      expect(await rowsOf(`select count(*) as n from ${from} where verified`)).toEqual([{ n: BigInt(rows) }])
    expect(manifest.seals === undefined).toBe(!options.includeProvenance)
  })

  test('with the canonical text that the hash is of', async () => {
    const { path } = await lab.export(tenant, { format: 'parquet' })
    const found = await rowsOf(`select canonical, provenance_hash, provenance_cosign from read_parquet(${text(path)})`)
    for (const [at, row] of found.entries()) {
      const { is_purged: _, provenance_hash, provenance_cosign, ...canonical } = records[at]!
      expect(row).toEqual({ canonical: canonicalize(canonical as never), provenance_hash, provenance_cosign })
    }
  })

  test('in several row groups, in order, whose times it can skip by', async () => {
    const many = await lab.openTenant('initech')
    await lab.load(many, 10_000, (index) => ({
      recordType: 'artifact',
      fields: { title: `=${index}`, size_bytes: index },
    }))
    const { path, rows } = await lab.export(many, { format: 'parquet' })
    expect(rows).toBe(10_000)
    const sizes = await rowsOf(`select size_bytes from read_parquet(${text(path)})`)
    expect(sizes.map((row) => Number(row.size_bytes))).toEqual(sizes.map((_, at) => at))
    const groups = await rowsOf(
      `select row_group_num_rows as rows, stats_min_value as first from parquet_metadata(${text(path)}) where path_in_schema = 'created_at'`,
    )
    expect(groups.map((group) => Number(group.rows))).toEqual([4096, 4096, 1808])
    expect(groups.every(({ first }) => first !== null)).toBe(true)
  })

  test('without a row', async () => {
    const { path } = await lab.export(empty, { format: 'parquet' })
    expect(await rowsOf(`select count(*) as n from read_parquet(${text(path)})`)).toEqual([{ n: 0n }])
    expect((await typesOf(`read_parquet(${text(path)})`)).get('created_at')).toBe('TIMESTAMP WITH TIME ZONE')
  })
})

describe('DuckDB opens CSV', () => {
  const options = 'sample_size = -1, max_line_size = 20000000'

  test.each([null, 'gzip'] as const)('with compression %s', async (compression) => {
    const { path } = await lab.export(tenant, { format: 'csv', compression })
    const from = `read_csv(${text(path)}, ${options})`
    const types = await typesOf(from)
    expect(types.get('created_at')).toMatch(/^TIMESTAMP/)
    expect([types.get('success'), types.get('latency_ms'), types.get('cost_usd_estimate')]).toEqual([
      'BOOLEAN',
      'BIGINT',
      'DOUBLE',
    ])
    const found = await rowsOf(`select * from read_csv(${text(path)}, ${options}, all_varchar = true)`)
    expect(found).toHaveLength(records.length)
    for (const [at, row] of found.entries()) {
      for (const column of typedColumns) {
        const cell = csvCell(column.type, typedValue(column, records[at]!))
        expect([column.name, row[column.name]]).toEqual([column.name, cell === '' ? null : cell])
      }
      expect(row.provenance_cosign).toBe(records[at]!.provenance_cosign)
    }
  })

  test('without a row', async () => {
    const { text: file } = await lab.export(empty, { format: 'csv', verify: true })
    expect(file.split('\r\n')).toHaveLength(2)
    expect(file.trimEnd().split(',').at(-1)).toBe('verified')
  })

  test('and no cell is one that a spreadsheet executes', async () => {
    const { text: file } = await lab.export(tenant, { format: 'csv', verify: true })
    const cells = cellsOf({ text: file }).flat()
    expect(cells.length).toBe((records.length + 1) * (typedColumns.length + 4))
    const dangerous = cells.filter((cell) => /^[=+@\t\r\n\uff1d\uff0b\uff0d\uff20]|^-(?!\d+(\.\d+)?$)/.test(cell))
    expect(dangerous).toEqual([])
    // They are there, with their quote.
    for (const start of ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\t=1", "'\r=1", "'＝1+1"]) expect(cells).toContain(start)
  })
})

function cellsOf({ text: file }: Pick<WrittenFiles, 'text'>): string[][] {
  // RFC 4180 and nothing else.
  return parse(file, { record_delimiter: '\r\n', relax_column_count: false })
}

function parquetRow(record: Record): object {
  return Object.fromEntries(
    typedColumns.map((column) => {
      const value = typedValue(column, record)
      if (value === null) return [column.name, null]
      if (column.type === 'integer') return [column.name, BigInt(value as number)]
      if (column.type !== 'timestamp') return [column.name, value]
      const [, seconds, micros] = /^(.*)\.(\d{6})Z$/.exec(String(value))!
      return [column.name, BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(micros!)]
    }),
  )
}
