import { globSync, readFileSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Who opens connections beside server/outbound, and why the guard is not in the way. No address here is a tenant's. */
const others: Readonly<Record<string, string>> = {
  'server/db/': 'PostgreSQL, as the operator configured it',
  'server/embedded-postgres/': 'the PostgreSQL that the service itself starts',
  'server/jobs/queue.ts': 'the same PostgreSQL',
  'server/limits/valkey-connection.ts': 'Valkey, as the operator configured it',
  'server/mail/mailer.ts': 'the mail server of the operator',
  'server/storage/s3-storage.ts': 'the object store of the operator',
  'server/modules/cmek/providers/': 'Vault and AWS KMS of the operator; a tenant names a key there and no address',
  'server/modules/identity/provider-': 'openid-client, which sends by outbound.fetch alone (customFetch)',
  'server/modules/identity/oidc-callback-errors.ts': 'only error classes of openid-client',
  'server/listening-sockets.ts': 'looks up the name that the service itself listens at',
}

const nodeModules = /^(node:)?(https?|http2|net|tls|dgram|dns|dns\/promises)$/
const packages = /^(undici|pg|pg-boss|ioredis|nodemailer|openid-client|@aws-sdk\/client-[a-z0-9]+)$/
/** They open nothing. */
const harmless = new Set(['isIP', 'isIPv6', 'BlockList', 'createServer', 'getConstructionPlans', 'getMigrationPlans'])
const globals = new Set(['fetch', 'WebSocket', 'EventSource'])

function isOpening(from: string, name: string): boolean {
  // The rest of it only reckons.
  if (from === 'jose') return ['createRemoteJWKSet', '*'].includes(name)
  return (nodeModules.test(from) || packages.test(from)) && !harmless.has(name)
}

/** What of a file can open a connection: imports, and globals that it names. */
function opens(file: string, source: string): string[] {
  const { module, program } = parseSync(file, source)
  const found = [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({
      from: moduleRequest.value,
      // Without a name it is the whole of it.
      names: entries.filter(({ isType }) => !isType).map(({ importName }) => importName.name ?? '*'),
    })),
    ...module.staticExports
      .flatMap(({ entries }) => entries)
      .filter(({ moduleRequest, isType }) => moduleRequest && !isType)
      .map(({ moduleRequest, importName }) => ({ from: moduleRequest!.value, names: [importName.name ?? '*'] })),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => ({
      from: source.slice(start + 1, end - 1),
      names: ['*'],
    })),
  ].flatMap(({ from, names }) => names.filter((name) => isOpening(from, name)).map((name) => `${name} of ${from}`))
  const note = (name: unknown) => void (typeof name === 'string' && globals.has(name) && found.push(name))
  new Visitor({
    CallExpression: ({ callee }) => {
      if (callee.type === 'Identifier') note(callee.name)
      // Modules in a way that is no import.
      const called = callee.type === 'MemberExpression' ? callee.property : callee
      if (called.type === 'Identifier' && /^(require|getBuiltinModule)$/.test(called.name)) found.push(called.name)
    },
    NewExpression: ({ callee }) => void (callee.type === 'Identifier' && note(callee.name)),
    MemberExpression: ({ object, property }) => {
      if (object.type === 'Identifier' && object.name === 'globalThis' && 'name' in property) note(property.name)
    },
    // As a value that is handed on, by its name or as the value of a member.
    Property: ({ value }) => void (value.type === 'Identifier' && note(value.name)),
    VariableDeclarator: ({ init }) => void (init?.type === 'Identifier' && note(init.name)),
    AssignmentPattern: ({ right }) => void (right.type === 'Identifier' && note(right.name)),
  }).visit(program)
  return found
}

const files = globSync('server/**/*.ts', { cwd: root }).map((file) => file.split(sep).join('/'))
const openers = new Map(
  files
    .map((file) => [file, opens(file, readFileSync(join(root, file), 'utf8'))] as const)
    .filter(([, found]) => found.length > 0),
)

test('nothing in server/ connects to others but server/outbound, and what is named here with its reason', () => {
  const allowed = ['server/outbound/', ...Object.keys(others)]
  const breaches = [...openers].filter(([file]) => !allowed.some((path) => file.startsWith(path)))
  expect(Object.fromEntries(breaches)).toEqual({})
})

test('each that is named does connect', () => {
  const idle = ['server/outbound/', ...Object.keys(others)].filter(
    (path) => ![...openers.keys()].some((file) => file.startsWith(path)),
  )
  expect(idle).toEqual([])
})

test('whoever uses openid-client gives it the way out', () => {
  const clients = [...openers].filter(([, found]) => found.some((each) => each.endsWith('openid-client')))
  const configured = clients.map(([file]) => [file, readFileSync(join(root, file), 'utf8')] as const)
  const makes = configured.filter(([, source]) => /new oidc\.Configuration|oidc\.discovery\(/.test(source))
  expect(makes.length).toBeGreaterThan(0)
  for (const [file, source] of makes) expect([file, source.includes('[oidc.customFetch] =')]).toEqual([file, true])
})

test.each([
  [`import { request } from 'undici'`, true],
  [`import undici from 'undici'`, true],
  [`import * as http from 'node:https'`, true],
  [`import { jwtVerify } from 'jose'`, false],
  [`import { createRemoteJWKSet } from 'jose'`, true],
  [`import { connect } from 'net'`, true],
  [`import { isIP, createServer } from 'node:net'`, false],
  [`import type { Socket } from 'node:net'`, false],
  [`import { type Socket, isIP } from 'node:net'`, false],
  [`import { Resolver } from 'node:dns/promises'`, true],
  [`export { request } from 'node:http'`, true],
  [`const { request } = await import('node:http')`, true],
  [`process.getBuiltinModule('http').request(url)`, true],
  [`await fetch(url)`, true],
  [`await globalThis.fetch(url)`, true],
  [`serve({ fetch })`, true],
  [`serve({ send: fetch })`, true],
  [`const send = fetch`, true],
  [`function serve(send = fetch) {}`, true],
  [`new WebSocket(url)`, true],
  [`await outbound.fetch(url)`, false],
  [`interface Way { fetch(url: string): void; get: typeof globalThis.fetch }`, false],
  [`export const way = { fetch: guarded }`, false],
])('%s opens a connection: %s', (source, does) => {
  expect(opens('a.ts', source).length > 0).toBe(does)
})
