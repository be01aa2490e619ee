import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runNode } from '../sdk/run-node.ts'
import { signedHeader } from '../sdk/webhook-vectors.ts'
import { freePort } from '../support/free-port.ts'
import { snippetsOf } from '../support/page-snippets.ts'

const root = resolve(import.meta.dirname, '../..')
const snippets = snippetsOf('docs/webhook-receiver.md')
const secret = 'whsec_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'
const message = JSON.stringify({
  ...{ id: '1', kind: 'skill.updated', tenant: 'acme', occurred_at: '2026-01-05T09:30:00Z', sequence: 7, data: {} },
})
const signature = () => signedHeader(message, secret, Math.floor(Date.now() / 1000))

let folder: string
const children: ChildProcess[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hub-webhook-page-'))
  // As the page says: a receiver copies these files.
  await cp(join(root, 'sdk/typescript/src/webhooks'), folder, { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

const snippet = (name: string) => {
  const found = snippets.find((each) => each.name === name)
  if (!found) throw new Error(`docs/webhook-receiver.md has no ${name}`)
  return found.code
}

/** Writes a module that runs a snippet, and returns its path. */
async function moduleOf(name: string, code: string): Promise<string> {
  const file = join(folder, `${name}.mts`)
  await writeFile(file, code)
  return file
}

const received = `
const body = Buffer.from(process.env.BODY ?? '')
const request = { headers: { 'x-service-signature': process.env.SIGNATURE } }
const secret = process.env.WEBHOOK_SECRET ?? ''
const response = { writeHead: (status: number) => ({ end: () => console.log(status) }) }
`

/** Runs a snippet within a handler, for a message and for a forged one, and returns what both print. */
async function runHandler(name: string, code: string): Promise<string[]> {
  const [imports = '', ...rest] = code.split('\n\n')
  const inner = rest.join('\n\n')
  const handler = `${imports}\n${received}
    async function handle() {\n${inner}\nconsole.log(message.kind)\n}
    const answer = await handle() as unknown as Response | undefined
    if (answer) console.log(answer.status)`
  const file = await moduleOf(name, handler)
  const env = { BODY: message, SIGNATURE: signature(), WEBHOOK_SECRET: secret }
  const outputs = [env, { ...env, BODY: message.replace('acme', 'acne') }].map((variables) =>
    runNode([file], variables),
  )
  return (await Promise.all(outputs)).map(({ stdout }) => stdout.trim())
}

test.each([
  ['node', 'Verify a message: ts'],
  ['webcrypto', 'Verify a message: ts 2'],
])('the verifier for %s accepts a message, and answers a forged one with 400', async (name, of) => {
  expect(await runHandler(name, snippet(of))).toEqual(['skill.updated', '400'])
})

test('the page of an endpoint in the UI shows the same code, for Node and for Python', () => {
  const source = readFileSync(join(root, 'web/pages/webhooks/verification-code.tsx'), 'utf8')
  const shown = (name: string) => new RegExp(`^const ${name} = \`([^\`]*)\`$`, 'm').exec(source)?.[1]
  expect(`${shown('node')}\n`).toBe(snippet('Verify a message: ts'))
  // sdk/python/tests/test_package.py runs it.
  expect(`${shown('python')}\n`).toBe(snippet('Verify a message: python'))
})

test('the receiver with Node', async () => {
  const port = await freePort()
  const code = snippet('Verify a message: ts 3')
  expect(code).toContain('.listen(8474)')
  const file = await moduleOf('receiver', `${code.replace('8474', `${port}, '127.0.0.1', () => console.log('ready')`)}`)
  const child = spawn(process.execPath, [file], { env: { WEBHOOK_SECRET: secret } })
  children.push(child)
  await once(child.stdout, 'data')
  const post = (body: string) =>
    fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers: { 'x-service-signature': signature() }, body })
  expect((await post(message)).status).toBe(204)
  expect((await post(`${message} `)).status).toBe(400)
})

test('the receiver as a worker', async () => {
  const call = `
    import worker from './worker.mts'
    const request = new Request('https://worker.example', {
      method: 'POST', body: process.env.BODY, headers: { 'x-service-signature': process.env.SIGNATURE },
    })
    console.log(await (await worker.fetch(request, { WEBHOOK_SECRET: process.env.WEBHOOK_SECRET })).text())`
  await moduleOf('worker', snippet('Verify a message: ts 4'))
  const env = { BODY: message, SIGNATURE: signature(), WEBHOOK_SECRET: secret }
  expect((await runNode([await moduleOf('call', call)], env)).stdout).toBe('took 7\n')
})

test('openssl computes the signature of the header', async () => {
  const [, seconds = '', expected] = /t=(\d+),v1=(\w+)/.exec(signature()) ?? []
  const env = { PATH: process.env.PATH, T: seconds, BODY: message, WEBHOOK_SECRET: secret }
  const run = promisify(execFile)('sh', ['-c', snippet('Verify a message: sh')], { env })
  const { stdout } = await run.catch((error: { stderr?: string }) => {
    // A machine without openssl cannot run it.
    if (/openssl: (command )?not found/.test(error.stderr ?? '')) return { stdout: `${expected} openssl is absent` }
    throw error
  })
  expect(stdout.split(' ')[0]).toBe(expected)
})

test('Stripe’s library', async () => {
  const code = snippet('Verify a message: ts 5')
  const file = await moduleOf('stripe', `${received}\n${code}\nconsole.log((message as { kind?: string }).kind)`)
  const { stdout } = await runNode([file], { BODY: message, SIGNATURE: signature(), WEBHOOK_SECRET: secret })
  expect(stdout).toBe('skill.updated\n')
})
