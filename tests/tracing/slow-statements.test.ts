import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { expect, test } from 'vitest'
import { runAs } from '../../server/tracing/current-work.ts'
import { statementName, watchStatements } from '../../server/tracing/watched-statements.ts'
import { createTestDatabase } from '../support/database.ts'

function watchedClient(slowMs: number, answerMs: number) {
  const lines: object[] = []
  const log = { warn: (fields: object, text: string) => void lines.push({ ...fields, text }) }
  const client = {
    query: async () => {
      await delay(answerMs)
      return { rows: [] }
    },
  } as unknown as pg.ClientBase
  watchStatements(client, { log: log as never, slowMs })
  return { client, lines }
}

test('a slow statement is logged with operation and tenant, without text and values', async () => {
  const { client, lines } = watchedClient(5, 20)
  const text = `select canonical from hub.records where tenant_id = $1 and title = 'secret'`
  await runAs({ operation: 'queryRecords', span: undefined }, async () => {
    await client.query(`begin; select hub.set_tenant('acme')`)
    await client.query(text, ['acme'])
    await client.query('commit')
    await client.query('select 1')
  })
  const { digest } = statementName(text)
  const line = { operation: 'queryRecords', tenant: 'acme', text: 'slow statement', ms: expect.any(Number) }
  expect(lines).toEqual([
    { ...line, command: 'BEGIN', table: undefined, statement: statementName('begin').digest },
    { ...line, command: 'SELECT', table: 'records', statement: digest },
    { ...line, command: 'COMMIT', table: undefined, statement: statementName('commit').digest },
    { ...line, tenant: undefined, command: 'SELECT', table: undefined, statement: statementName('select 1').digest },
  ])
  expect(JSON.stringify(lines)).not.toContain('secret')
})

test.each([
  [0, 5],
  [60_000, 0],
])('with a limit of %i ms, a statement of %i ms is not logged', async (slowMs, answerMs) => {
  const { client, lines } = watchedClient(slowMs, answerMs)
  await client.query('select 1')
  expect(lines).toEqual([])
})

test('statements of the service and its scripts are measured', async () => {
  const lines: { command?: string; tenant?: string }[] = []
  const log = { warn: (fields: object) => void lines.push(fields), error: () => {}, info: () => {} }
  const db = await createTestDatabase({ slowQueryMs: 1, log: log as never })
  try {
    await db.database.withTenant('acme', (tx) => tx.client.query('select pg_sleep(0.02)'))
    const statement = { name: 'slow', text: 'select pg_sleep(0.02)' }
    await db.database.ingest('globex', [{ statement, values: [] }])
    const slow = lines.filter(({ command }) => command === 'SELECT').map(({ tenant }) => tenant)
    expect(slow).toEqual(['acme', 'globex'])
  } finally {
    await db.drop()
  }
})
