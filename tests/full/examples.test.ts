import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { runNode } from '../sdk/run-node.ts'
import { signedHeader } from '../sdk/webhook-vectors.ts'
import { startHub, type TestHub } from '../support/hub.ts'

/** Starts the examples as their users do: as processes with the settings of a service account. */

const root = resolve(import.meta.dirname, '../..')
const example = (path: string) => join(root, 'examples', path)

let hub: TestHub
let settings: Record<string, string>
let folder: string
beforeAll(async () => {
  hub = await startHub()
  const { body } = await hub.call('acme', 'POST', '/api/v1/service-accounts', {
    body: { name: 'examples', scopes: scopeNames },
  })
  settings = {
    ...{ HUB_URL: hub.baseUrl, HUB_TENANT: 'acme' },
    ...{ HUB_CLIENT_ID: body.client_id, HUB_CLIENT_SECRET: body.client_secret },
  }
  folder = await mkdtemp(join(tmpdir(), 'hub-examples-'))
})
afterAll(async () => {
  await hub?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Runs an example that must fail, and returns its exit code and stderr. */
async function failureOf(args: readonly string[], env = settings): Promise<[unknown, string]> {
  const error = await runNode(args, env).catch((error: { code: number; stderr: string }) => error)
  return 'code' in error ? [error.code, error.stderr] : [0, '']
}

test('onboarding shows a plan, applies it, and has no changes afterwards', async () => {
  const args = [example('onboarding/apply.ts'), example('onboarding/tenant.json')]
  const plan = await runNode(args, settings)
  expect(plan.stdout).toContain('+ skill reply-draft 1.0.0')
  expect(plan.stdout).toContain('Nothing is changed yet.')
  const budgets = () => hub.call('acme', 'GET', '/api/v1/budgets')
  expect((await budgets()).body.items).toEqual([])

  const applied = await runNode([...args, '--apply'], settings)
  expect(applied.stdout).toMatch(/HUB_CLIENT_ID=sa\S+ HUB_CLIENT_SECRET=hubs\S+\n6 changes applied\./)
  expect((await runNode([...args, '--apply'], settings)).stdout).toBe('No changes. The tenant is as declared.\n')

  const changed = JSON.parse(await readFile(args[1]!, 'utf8'))
  changed.budgets[0].amount_usd = 700
  const file = join(folder, 'changed.json')
  await writeFile(file, JSON.stringify(changed))
  const update = await runNode([args[0]!, file, '--apply'], settings)
  expect(update.stdout).toBe('~ budget All skills\n1 changes applied.\n')
  expect((await budgets()).body.items).toMatchObject([{ name: 'All skills', amount_usd: 700 }])
})

test('onboarding names what is missing', async () => {
  expect(await failureOf([example('onboarding/apply.ts')])).toEqual([2, 'Name the file with the tenant.\n'])
  const args = [example('onboarding/apply.ts'), example('onboarding/tenant.json')]
  expect(await failureOf([...args, '--aply'])).toEqual([2, 'Unknown option --aply. There is --apply only.\n'])
  expect(await failureOf(args, { ...settings, HUB_URL: '' })).toEqual([2, 'Set HUB_URL.\n'])
})

test('the agent records a decision once, and finds it afterwards', async () => {
  const agent = (outcome: string) =>
    runNode([example('memory-agent/agent.ts'), 'Fax machines', outcome, 'Unused'], settings)
  expect((await agent('Sell')).stdout).toMatch(/^Decided: Sell\. Recorded as [0-9a-f-]{36}\.\n$/)
  expect((await agent('Keep')).stdout).toBe('Already decided: Sell, because Unused.\n')
  const { body } = await hub.call('acme', 'GET', '/api/v1/hub/records?record_type=decision')
  expect(body.records).toMatchObject([{ decision_subject: 'Fax machines', metadata: { client_name: 'memory-agent' } }])
})

test('the agent says why the Hub refuses it', async () => {
  const args = [example('memory-agent/agent.ts'), 'Desks', 'Buy', 'Old']
  const [code, text] = await failureOf(args, { ...settings, HUB_CLIENT_SECRET: 'wrong' })
  expect([code, text]).toEqual([2, expect.stringContaining('The Hub refuses the service account')])
})

test('the auditor verifies an export, and a changed byte is detected', async () => {
  const { stdout } = await promisify(execFile)(example('auditor/audit.sh'), [join(folder, 'audit')], {
    env: { ...process.env, ...settings, HUB_DATA_DIR: join(folder, 'none') },
  })
  expect(stdout).toMatch(/records\.jsonl: verified/)
  expect(stdout).toMatch(/altered\.jsonl: NOT verified|altered\.jsonl: not verified|altered\.jsonl: FAILED/i)
  expect(stdout.endsWith('The change was detected.\n')).toBe(true)
})

const secret = 'whsec_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'

/** Starts the receiver, and returns its address and how to stop it. */
async function startReceiver(file: string): Promise<{ url: string; child: ChildProcessByStdio<null, Readable, null> }> {
  const child = spawn(process.execPath, [example('siem-receiver/receiver.ts'), file], {
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data')
  return { url: /^Receiver: (\S+)/.exec(String(line))![1]!, child }
}

test('the receiver writes each verified message once, also after a restart in the middle of a line', async () => {
  const file = join(folder, 'events.jsonl')
  const message = (id: string) =>
    JSON.stringify({
      ...{ id, kind: 'governance.auth.login', tenant: 'acme', occurred_at: '2026-01-05T09:30:00Z', sequence: 1 },
      data: {},
    })
  const post = async (url: string, body: string, key = secret) => {
    const signature = signedHeader(body, key, Math.floor(Date.now() / 1000))
    const response = await fetch(url, { method: 'POST', body, headers: { 'x-service-signature': signature } })
    return response.status
  }
  const first = await startReceiver(file)
  expect(await post(first.url, message('1'))).toBe(204)
  expect(await post(first.url, message('1'))).toBe(204)
  expect(await post(first.url, message('2'), `${secret}x`)).toBe(400)
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  await writeFile(file, '{"id":"3","ki', { flag: 'a' })

  const second = await startReceiver(file)
  expect(await post(second.url, message('1'))).toBe(204)
  expect(await post(second.url, message('3'))).toBe(204)
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  expect(lines).toEqual([message('1'), '{"id":"3","ki', message('3')])
})
