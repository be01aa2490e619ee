import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { decision, unknownId, write } from '../api/record-cases.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { type BrowserLab, kim, signInByMock, startBrowserLab } from '../browser/browser-lab.ts'
import { runCli } from '../cli/run-cli.ts'
import { event } from '../telemetry/events.ts'

/** Commands for people as processes, against a live Hub: as a service account, and signed in with a real browser. */

let lab: BrowserLab
let account: Record<string, string>
let readOnly: Record<string, string>
let config: string
let decisionId: string
beforeAll(async () => {
  lab = await startBrowserLab()
  await lab.add('acme', kim.email, 'analyst')
  await prepareTelemetry(lab.hub, 'acme')
  account = await accountOf('acme', ['hub:read', 'hub:write', 'telemetry:read', 'governance:read'])
  readOnly = await accountOf('acme', ['hub:read'])
  decisionId = await write(lab.hub, 'acme', { ...decision, decision_subject: 'Zebra \u001b[31mcrossing' })
})
beforeEach(async () => {
  config = await mkdtemp(join(tmpdir(), 'hub-people-'))
})
afterAll(() => lab.close())

async function accountOf(tenant: 'acme' | 'globex', scopes: string[]): Promise<Record<string, string>> {
  const created = await lab.hub.modules.auth.serviceAccounts.create(
    await lab.hub.tenant(tenant),
    { name: 'cli', scopes },
    { operator: 'test' },
  )
  return {
    HUB_URL: lab.hub.baseUrl,
    HUB_TENANT: tenant,
    HUB_CLIENT_ID: created.client_id,
    HUB_CLIENT_SECRET: created.client_secret,
  }
}

const run = (args: string[], env: Record<string, string> = account) => runCli(args, { XDG_CONFIG_HOME: config, ...env })

async function json(args: string[], env?: Record<string, string>) {
  const { code, stdout, stderr } = await run([...args, '--json'], env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

const storedPath = () => join(config, 'org-memory-hub', 'login.json')
const stored = async () => JSON.parse(await readFile(storedPath(), 'utf8'))

describe('as a service account of the environment', () => {
  test('records are written, listed by pages, shown, related and verified', async () => {
    const path = join(config, 'decision.json')
    await writeFile(
      path,
      JSON.stringify({ ...decision, decision_subject: 'From a file', related_records: [decisionId] }),
    )
    const written = await json(['records', 'write', path, '--idempotency-key', 'people-commands-1'])
    expect(await json(['records', 'write', path, '--idempotency-key', 'people-commands-1'])).toEqual(written)
    const first = await json(['records', 'query', '--record-type', 'decision', '--limit', '1'])
    expect([first.records.length, typeof first.next_cursor]).toEqual([1, 'string'])
    const rest = await json([
      'records',
      'query',
      '--record-type',
      'decision',
      '--limit',
      '1',
      '--cursor',
      first.next_cursor,
    ])
    expect(rest.records[0].record_id).not.toBe(first.records[0].record_id)
    expect(await json(['records', 'get', written.record_id])).toMatchObject({ decision_subject: 'From a file' })
    const related = await json(['records', 'related', written.record_id, '--depth', '1', '--direction', 'out'])
    expect(related.edges).toEqual([{ from: written.record_id, to: decisionId }])
    expect(await json(['records', 'verify', written.record_id])).toMatchObject({ verified: true })
  })

  test('tables show no control characters of records', async () => {
    for (const args of [
      ['records', 'query', '--record-type', 'decision'],
      ['records', 'get', decisionId],
      ['search', 'zebra'],
    ]) {
      const { code, stdout } = await run(args)
      expect([code, stdout.includes('\u001b'), stdout.includes('\\u001b')]).toEqual([0, false, true])
    }
  })

  test('search and summary', async () => {
    const { results } = await json(['search', 'zebra', '--record-type', 'decision'])
    expect(results.map((each: { record: { record_id: string } }) => each.record.record_id)).toEqual([decisionId])
    expect((await run(['search', 'where is a zebra'])).stdout).toContain('The results have some of them.')
    await lab.hub.call('acme', 'POST', '/api/v1/telemetry/events', { body: event() })
    await lab.hub.modules.rollups.rollups.settle('acme')
    const from = '2020-01-01T00:00:00Z'
    const summary = await json(['telemetry', 'summary', '--from', from, '--group-by', 'skill'])
    expect(summary).toMatchObject({ rows: [{ key: 'sum-up', invocations: 1 }], totals: { invocations: 1 } })
    expect((await run(['telemetry', 'summary', '--from', from, '--group-by', 'skill'])).stdout).toMatch(
      /sum-up +1[\s\S]*Total +1/,
    )
  })

  test('an export is downloaded and verified, and replaces nothing', async () => {
    const output = join(config, 'decisions.jsonl')
    const args = ['export', '--record-type', 'decision', '--include-provenance', '--output', output]
    const { code, stdout, stderr } = await run([...args, '--json'])
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Export exp_/)])
    const result = JSON.parse(stdout)
    expect(result).toMatchObject({ verified: true, failed: 0, missing: 0, file: output })
    expect((await readFile(output, 'utf8')).trim().split('\n')).toHaveLength(result.checked)
    expect((await run(['verify', output])).code).toBe(0)
    expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining('exists') })
  })

  test('failures have their exit codes and plain words', async () => {
    const away = { ...account, HUB_URL: `http://127.0.0.1:${await closedPort()}` }
    const cases: [string[], Record<string, string>, number, RegExp][] = [
      [['records', 'query', '--created-at-gte', 'soon'], account, 2, /--created-at-gte/],
      [['records', 'query', '--record-type', 'poem'], account, 2, /Allowed choices/],
      [['records', 'query', '--limit', '0'], account, 2, /whole number/],
      [['records', 'get', 'x'], account, 2, /UUID/],
      [['records', 'write', join(config, 'none.json')], account, 2, /does not exist/],
      [['login'], {}, 2, /address of the Hub is missing/],
      [['login', 'hub.example.com'], {}, 2, /is not an address/],
      [['login', lab.hub.baseUrl, '--client-id', 'x'], {}, 2, /tenant is missing/],
      [['whoami'], { ...account, HUB_URL: 'https://hub.example.com/?a' }, 1, /query or fragment/],
      [['records', 'get', decisionId], { ...account, HUB_CLIENT_SECRET: 'wrong' }, 3, /credentials/],
      [['records', 'get', decisionId], { ...account, HUB_TENANT: 'globex' }, 4, /tenant/],
      [['records', 'get', decisionId], {}, 3, /not signed in/],
      [['telemetry', 'summary'], readOnly, 4, /telemetry:read/],
      [['records', 'get', unknownId], account, 5, /record/],
      [['records', 'get', decisionId], await accountOf('globex', ['hub:read']), 5, /record/],
      [['records', 'get', decisionId], away, 6, /Cannot reach the Hub/],
    ]
    for (const [args, env, code, text] of cases) {
      const result = await run(args, env)
      expect([args, result.code, result.stdout]).toEqual([args, code, ''])
      expect(result.stderr).toMatch(text)
      expect(result.stderr).not.toMatch(/\n\s+at /)
    }
  })
})

test('a service account signs in with its secret from the environment, and signs out', async () => {
  const { HUB_CLIENT_ID = '', HUB_CLIENT_SECRET = '' } = account
  const args = ['login', lab.hub.baseUrl, '--tenant', 'acme', '--client-id', HUB_CLIENT_ID]
  expect(await run([...args, '--json'], { HUB_CLIENT_SECRET: 'wrong' })).toMatchObject({ code: 3, stdout: '' })
  await expect(stored()).rejects.toThrow('ENOENT')
  expect(await json(args, { HUB_CLIENT_SECRET })).toMatchObject({ kind: 'service_account', tenant: 'acme' })
  expect(await json(['records', 'get', decisionId], {})).toMatchObject({ record_id: decisionId })
  expect((await run(['whoami'], { HUB_TENANT: 'globex' })).stderr).toContain('signed in to tenant acme')
  expect(await json(['logout'], {})).toEqual({ revoked: false })
  expect((await run(['whoami'], {})).code).toBe(3)
  const file = join(config, 'secret')
  await writeFile(file, `${HUB_CLIENT_SECRET}\n`)
  const fromFile = await run(args, { HUB_CLIENT_SECRET_FILE: file })
  expect([fromFile.code, fromFile.stdout]).toEqual([0, expect.stringContaining('win over this login')])
  expect((await run(['logout'], {})).stdout).toContain('The secret of the service account stays valid')
  const unreadable = await run(args, { HUB_CLIENT_SECRET_FILE: join(config, 'none') })
  expect(unreadable).toMatchObject({ code: 1, stderr: expect.stringContaining('HUB_CLIENT_SECRET_FILE names') })
})

/** Runs `hub login`, and consents in a browser where the person is signed in. */
async function logInWithBrowser(button = 'Connect', { scope = '', email = kim.email } = {}) {
  const hub = resolve(import.meta.dirname, '../../cli/hub.js')
  const child = spawn(
    process.execPath,
    [hub, 'login', lab.hub.baseUrl, '--no-browser', '--json', ...(scope ? ['--scope', scope] : [])],
    {
      env: { PATH: process.env.PATH ?? '', XDG_CONFIG_HOME: config },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const result = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      result[name] += text
    })
  }
  const ended = new Promise<number | null>((done) => child.on('close', done))
  await expect.poll(() => result.stderr).toMatch(/http\S+\n/)
  const address = /http\S+/.exec(result.stderr)![0]
  const context = await lab.profile()
  const page = await context.newPage()
  await signInByMock(page, lab, email)
  const { origin } = new URL(new URL(address).searchParams.get('redirect_uri')!)
  expect((await fetch(`${origin}/callback?code=x&state=forged`)).status).toBe(400)
  await page.goto(address)
  if (scope) await page.getByRole('checkbox', { name: scope }).check()
  await page.getByRole('button', { name: button }).click()
  await page.getByText('return to the terminal').waitFor()
  const code = await ended
  await context.close()
  return { ...result, code }
}

describe('a person who signs in by browser', () => {
  test('imports telemetry if the login has the scope, and learns which one is missing', async () => {
    const file = join(config, 'events.jsonl')
    await writeFile(file, `${JSON.stringify(event({ session_id: 'imported by a person' }))}\n`)
    expect((await logInWithBrowser()).code).toBe(0)
    const refused = await run(['telemetry', 'import', file], {})
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no scope telemetry:write[\s\S]*hub login --scope/),
    })
    const admin = `ada-${kim.email}`
    await lab.add('acme', admin, 'admin')
    expect((await logInWithBrowser('Connect', { scope: 'telemetry:write', email: admin })).code).toBe(0)
    expect(await json(['telemetry', 'import', file], {})).toMatchObject({ stored_now: 1, rejected: 0 })
    const { body } = await lab.hub.call('acme', 'GET', '/api/v1/hub/records?session_id=imported%20by%20a%20person')
    expect(body.records).toMatchObject([{ created_by: expect.stringMatching(/^usr_/) }])
  })

  test('reads, has one renewal for many processes, and signs out', async () => {
    const { code, stdout } = await logInWithBrowser()
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ email: kim.email, tenant: 'acme' })])
    expect(await json(['records', 'get', decisionId], {})).toMatchObject({ record_id: decisionId })
    const before = await stored()
    const proxy = await countingProxy()
    const expired = { renew_after_ms: 0, expires_at_ms: 0, hub_url: proxy.url }
    await writeFile(storedPath(), JSON.stringify({ ...before, ...expired }))
    const calls = await Promise.all([1, 2, 3].map(() => run(['whoami', '--json'], {})))
    expect(calls.map((each) => each.code)).toEqual([0, 0, 0])
    expect(proxy.renewals()).toBe(1)
    await proxy.close()
    await writeFile(storedPath(), JSON.stringify({ ...(await stored()), hub_url: before.hub_url }))
    const after = await stored()
    expect(after.refresh_token).not.toBe(before.refresh_token)
    expect(await json(['logout'], {})).toEqual({ revoked: true })
    const headers = { authorization: `Bearer ${after.access_token}`, 'x-service-tenant': 'acme' }
    await expect.poll(async () => (await fetch(`${lab.hub.baseUrl}/api/v1/auth/me`, { headers })).status).toBe(401)
    await expect(stored()).rejects.toThrow('ENOENT')
  })

  test('ends the login that a new one replaces, or says that it could not', async () => {
    expect((await logInWithBrowser()).code).toBe(0)
    const earlier = await stored()
    const { HUB_CLIENT_ID = '', HUB_CLIENT_SECRET = '' } = account
    const args = ['login', lab.hub.baseUrl, '--tenant', 'acme', '--client-id', HUB_CLIENT_ID]
    await json(args, { HUB_CLIENT_SECRET })
    const headers = { authorization: `Bearer ${earlier.access_token}`, 'x-service-tenant': 'acme' }
    await expect.poll(async () => (await fetch(`${lab.hub.baseUrl}/api/v1/auth/me`, { headers })).status).toBe(401)
    await writeFile(storedPath(), JSON.stringify({ ...earlier, hub_url: `http://127.0.0.1:${await closedPort()}` }))
    const result = await run(args, { HUB_CLIENT_SECRET })
    expect([result.code, result.stderr]).toEqual([0, expect.stringContaining('The earlier login was not ended')])
    expect(await stored()).toMatchObject({ kind: 'service_account' })
  })

  test('learns that the login was revoked, and that its file is not safe', async () => {
    expect((await logInWithBrowser()).code).toBe(0)
    const login = await stored()
    await chmod(storedPath(), 0o644)
    expect(await run(['whoami'], {})).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('Other users may read'),
    })
    await chmod(storedPath(), 0o600)
    await lab.hub.call('acme', 'POST', '/api/v1/auth/logout', { token: login.access_token })
    await writeFile(storedPath(), JSON.stringify({ ...login, renew_after_ms: 0 }))
    const ended = await run(['whoami'], {})
    expect([ended.code, ended.stderr]).toEqual([3, expect.stringMatching(/login has ended[\s\S]*hub login/)])
    expect(await json(['logout'], {})).toEqual({ revoked: true })
  })

  test('may cancel', async () => {
    const { code, stderr } = await logInWithBrowser('Cancel')
    expect([code, stderr]).toEqual([3, expect.stringContaining('cancelled')])
    await expect(stored()).rejects.toThrow('ENOENT')
  })
})

test('a login is kept while the Hub is away, unless only the file shall go', async () => {
  const { HUB_CLIENT_ID = '', HUB_CLIENT_SECRET = '' } = account
  await json(['login', lab.hub.baseUrl, '--tenant', 'acme', '--client-id', HUB_CLIENT_ID], { HUB_CLIENT_SECRET })
  const person = {
    kind: 'person',
    version: 1,
    hub_url: `http://127.0.0.1:${await closedPort()}`,
    tenant: 'acme',
    client_id: 'hubc.x.y',
    access_token: 'a',
    refresh_token: 'r',
    renew_after_ms: 0,
    expires_at_ms: 0,
  }
  await writeFile(storedPath(), JSON.stringify(person))
  expect((await run(['logout'], {})).code).toBe(6)
  expect(await stored()).toEqual(person)
  expect(await json(['logout', '--local'], {})).toEqual({ revoked: false })
  await rm(config, { recursive: true })
})

/** Forwards to the Hub, and counts renewals. Holds each for a second, so that renewals without a lock overlap. */
async function countingProxy() {
  let renewals = 0
  const server = createHttpServer(async (request, response) => {
    const isRenewal = request.url === '/api/v1/oauth/token'
    if (isRenewal) {
      renewals += 1
      await wait(1000)
    }
    const { host: _, connection: __, ...headers } = request.headers as Record<string, string>
    const body = request.method === 'POST' ? await readAll(request) : undefined
    delete headers['content-length']
    const answer = await fetch(`${lab.hub.baseUrl}${request.url}`, {
      method: request.method ?? 'GET',
      headers,
      ...(body === undefined ? {} : { body }),
    })
    response
      .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
      .end(await answer.text())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    renewals: () => renewals,
    close: () => new Promise((done) => server.close(done)),
  }
}

/** A port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  await new Promise((done) => server.close(done))
  return port
}
