import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareTelemetry, registerSkill } from '../api/telemetry-tenants.ts'
import { openConnectorLab } from '../connector-forwarder/connector-lab.ts'
import { runModule } from '../otlp/exporter-process.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { runnersOf, snippetsOf } from '../support/page-snippets.ts'
import { curlStandIn } from '../support/readme-tour.ts'
import { event } from './events.ts'

const page = 'docs/connector-developer.md'
const pageOfModeC = 'docs/mode-c.md'

let hub: TestHub
let variables: Record<string, string>
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
  await registerSkill(hub, 'acme', 'reply-draft')
  const archetypes = [{ archetype_id: 'analyst' }, { archetype_id: 'support-agent' }]
  await hub.call('acme', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes } })
  const scopes = ['hub:read', 'telemetry:read', 'telemetry:write', 'governance:read']
  const { body } = await hub.call('acme', 'POST', '/api/v1/service-accounts', { body: { name: 'page', scopes } })
  variables = {
    ...{ HUB: hub.baseUrl, TENANT: 'acme' },
    ...{ HUB_CLIENT_ID: body.client_id, HUB_CLIENT_SECRET: body.client_secret },
  }
  const { access_token: TOKEN } = JSON.parse(
    await shell(
      'printf \'user = "%s"\' "$HUB_CLIENT_ID:$HUB_CLIENT_SECRET" | curl -s --config - \
    -d grant_type=client_credentials $HUB/api/v1/oauth/token',
    ),
  )
  Object.assign(variables, { TOKEN })
})
afterAll(() => hub.stop())

/** Runs lines of a shell with the variables that the page names. */
async function shell(lines: string, more: Record<string, string> = {}): Promise<string> {
  const code = `curl() { ${curlStandIn} "$@"; }\n${lines}`
  const { stdout } = await promisify(execFile)('sh', ['-c', code], { env: { ...process.env, ...variables, ...more } })
  return stdout
}

/** Expects a token that the API takes for telemetry and for nothing else. */
async function expectToken(token: string): Promise<void> {
  const statusOf = async (path: string) => (await hub.call('acme', 'GET', path, { token })).status
  expect(await statusOf('/api/v1/hub/records')).toBe(403)
  const { status } = await hub.call('acme', 'POST', '/api/v1/telemetry/events', { token, body: event() })
  expect(status).toBe(201)
}

/** Expects that a shown response has the members that the Hub answers, apart from those that it leaves out. */
const membersOf = (code: string) => [...code.matchAll(/"(\w+)":/g)].map(([, name]) => name)

test.each(
  runnersOf<(code: string) => Promise<unknown>>(page, {
    'Tokens: sh': async (code: string) => expectToken(JSON.parse(await shell(code)).access_token),
    'Tokens: text': async (code: string) => {
      const [snippet] = snippetsOf(page)
      expect(membersOf(code)).toEqual(Object.keys(JSON.parse(await shell(snippet!.code))))
    },
    'Tokens: ts': async (code: string) =>
      expectToken((await runModule(`${code}\nconsole.log(token.access_token)`, variables)).trim()),
    'Tokens: ts 2': async (code: string) =>
      expectToken((await runModule(`${code}\nconsole.log(token.access_token)`, variables)).trim()),
    'Tokens: text 2': async (code: string) => {
      const body = { name: 'elsewhere', scopes: ['telemetry:write'], allowed_addresses: ['203.0.113.7/32'] }
      const { body: account } = await hub.call('acme', 'POST', '/api/v1/service-accounts', { body })
      const ids = { HUB_CLIENT_ID: account.client_id, HUB_CLIENT_SECRET: account.client_secret }
      const answer = JSON.parse(await shell(snippetsOf(page)[0]!.code, ids))
      const shown = JSON.parse(code.replaceAll('http://127.0.0.1:8080', hub.baseUrl).replace(',…}', '}'))
      expect(answer).toMatchObject(shown)
    },
    'Send one event, or a batch: sh': async (code: string) => {
      const first = JSON.parse(await shell(code))
      expect(Object.keys(first)).toEqual(['record_id', 'provenance_hash', 'provenance_cosign'])
      // Under the same key, so it is stored once.
      expect(JSON.parse(await shell(code))).toEqual(first)
    },
    'Rate limits: text': async (code: string) => {
      const { headers } = await hub.call('acme', 'POST', '/api/v1/telemetry/events', { body: event() })
      for (const [, name = '', value = ''] of code.matchAll(/^([\w-]+): (.*)$/gm)) {
        expect(String(headers[name]).replace(/\d+/g, 'n'), name).toBe(value.replace(/\d+/g, 'n'))
      }
    },
    'Rate limits: text 2': async (code: string) => {
      const { headers } = await fetch(`${hub.baseUrl}/api/v1/oauth/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${variables.HUB_CLIENT_ID}:${variables.HUB_CLIENT_SECRET}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      })
      for (const [, name = '', value = ''] of code.matchAll(/^(ratelimit[\w-]*): (.*)$/gm)) {
        expect(headers.get(name)?.replace(/\d+/g, 'n'), name).toBe(value.replace(/\d+/g, 'n'))
      }
    },
  }),
)('$name', async ({ code, run }) => {
  await run(code)
})

test.each(
  runnersOf<(code: string) => Promise<unknown>>(pageOfModeC, {
    'Mode C: content stays with the customer: json': async (code: string) => {
      const body = { events: [event({ metadata: { channel: 'email' } })] }
      const { body: problem } = await hub.call('cmode', 'POST', '/api/v1/telemetry/events:batch', { body })
      const { instance: _, ...shown } = JSON.parse(code.replaceAll('http://127.0.0.1:8080', hub.baseUrl))
      expect(problem).toMatchObject(shown)
    },
    // tests/full/connector-commands.test.ts runs the command.
    'Run the forwarder: sh': async (code: string) => expect(code).toContain('npm run hub -- connector '),
    'Send to the forwarder: sh': (code: string) => forward(code),
    'Send to the forwarder: text': async (code: string) => {
      const sent = snippetsOf(pageOfModeC).find(({ name }) => name === 'Send to the forwarder: sh')
      expect(membersOf(code)).toEqual(membersOf(await forward(sent!.code)))
    },
  }),
)('$name', async ({ code, run }) => {
  await run(code)
})

test.each(snippetsOf('docs/query.md').filter(({ name }) => name.endsWith(': sh')))(
  'docs/query.md, $name: the Hub answers',
  async ({ code }) => {
    const answer = JSON.parse(await shell(code))
    expect(answer.results ?? answer.items, JSON.stringify(answer)).toEqual(expect.any(Array))
  },
)

/** Sends an event to a forwarder, which passes it on to its Hub. Returns the answer. */
async function forward(code: string): Promise<string> {
  const lab = await openConnectorLab()
  try {
    await lab.start()
    const sent = code.replace('http://127.0.0.1:8090', lab.url())
    const answer = await shell(sent, { EVENT: JSON.stringify(event({ user_id: 'user:by-page' })) })
    expect(JSON.parse(answer)).toMatchObject({ accepted: 1, failed: 0 })
    await lab.forwarded()
    expect(lab.hub.records.map(({ user_id }) => user_id)).toEqual(['user:by-page'])
    return answer
  } finally {
    await lab.close()
  }
}
