import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cliHubOfFile } from '../cli/cli-hub.ts'
import { runCli } from '../cli/run-cli.ts'
import { startHubProcess } from '../support/hub-process.ts'

const lab = cliHubOfFile()

/** With --json: the one object that stdout consists of. */
async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runCli([...args, '--json'], lab.env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.endsWith('\n')).toBe(true)
  expect(stdout.trimEnd()).not.toContain('\n')
  return JSON.parse(stdout)
}

async function failure(...args: string[]): Promise<{ code: number | null; stderr: string }> {
  const { code, stdout, stderr } = await runCli(args, lab.env)
  expect(stdout).toBe('')
  expect(stderr).not.toMatch(/\n\s+at /)
  return { code, stderr }
}

test('beside a running server, a tenant and an account are made that it knows at once', async () => {
  const tenant = await json('tenant', 'create', 'initech', '--mode', 'A', '--admin-email', 'bill@initech.example')
  expect(tenant).toEqual({
    tenant: 'initech',
    mode: 'A',
    admin_email: 'bill@initech.example',
    welcome_url: expect.stringContaining(`${lab.hub.baseUrl}/welcome/initech/`),
    welcome_expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  })
  expect((await fetch(tenant.welcome_url as string)).status).toBe(200)

  const scope = 'telemetry:write hub:read skill_entitlement:read roster:read'
  const account = await json('service-account', 'create', '--tenant', 'initech', '--name', 'app', '--scope', scope)
  expect(account).toEqual({
    client_id: expect.stringMatching(/^[A-Za-z0-9]+$/),
    client_secret: expect.stringMatching(/^[A-Za-z0-9]{43,}$/),
    name: 'app',
    tenant: 'initech',
    scopes: scope.split(' '),
  })
  const form = {
    grant_type: 'client_credentials',
    client_id: `${account.client_id}`,
    client_secret: `${account.client_secret}`,
  }
  const answer = await fetch(`${lab.hub.baseUrl}/api/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  expect(answer.status).toBe(200)
  const { access_token } = (await answer.json()) as { access_token: string }

  const bundle = await json('archetypes', 'set', '--tenant', 'initech', 'clerk', 'agent')
  expect(bundle).toEqual({ tenant: 'initech', archetypes: [{ archetype_id: 'agent' }, { archetype_id: 'clerk' }] })
  const headers = { authorization: `Bearer ${access_token}`, 'x-service-tenant': 'initech' }
  const listed = await fetch(`${lab.hub.baseUrl}/api/v1/roster/archetypes`, { headers })
  expect(((await listed.json()) as { items: unknown }).items).toEqual(bundle.archetypes)
})

test('a service account may end, and be bound to addresses', async () => {
  const limits = ['--expires-at', '2099-01-31T12:00:00Z', '--allow-address', '10.0.0.7', '2001:db8::/32']
  const base = ['service-account', 'create', '--tenant', 'acme', '--name', 'bound', '--scope', 'hub:read']
  expect(await json(...base, ...limits)).toMatchObject({
    expires_at: '2099-01-31T12:00:00.000000Z',
    allowed_addresses: ['10.0.0.7/32', '2001:db8::/32'],
  })
  const { code, stderr } = await failure(...base, '--expires-at', 'soon', '--allow-address', 'home')
  expect(code).toBe(1)
  expect(stderr).toMatch(/expires.at must be an RFC 3339 timestamp[\s\S]*must be an IPv4 or IPv6 address/)
})

test('service accounts are listed, get new secrets and are disabled', async () => {
  const base = ['--tenant', 'acme'] as const
  const made = await json('service-account', 'create', ...base, '--name', 'managed', '--scope', 'hub:read')
  const id = String(made.client_id)
  const rotated = await json('service-account', 'rotate-secret', id, ...base)
  expect(rotated).toEqual({
    client_id: id,
    client_secret: expect.stringMatching(/^[A-Za-z0-9]{43,}$/),
    previous_secret_expires_at: expect.any(String),
  })
  expect(rotated.client_secret).not.toBe(made.client_secret)
  expect(await json('service-account', 'disable', id, ...base)).toMatchObject({ client_id: id, name: 'managed' })
  const listed = await json('service-account', 'list', ...base)
  const found = (listed.items as { client_id: string }[]).find((each) => each.client_id === id)
  expect(found).toMatchObject({ name: 'managed', disabled_at: expect.any(String) })
  expect(JSON.stringify(listed)).not.toContain(rotated.client_secret)
  for (const command of ['rotate-secret', 'disable']) {
    expect((await failure('service-account', command, 'saNobody', ...base)).code).toBe(1)
  }
})

test('limits take a class with hyphens or underscores', async () => {
  for (const name of ['hub-read', 'hub_read']) {
    expect(await json('tenant', 'limits', 'acme', name, '70', '700')).toEqual({
      tenant: 'acme',
      class: 'hub-read',
      per_token: 70,
      per_tenant: 700,
    })
  }
  await expect
    .poll(async () => (await lab.hub.modules.tenants.directory.limitsOf('acme'))['hub-read'])
    .toEqual({ perToken: 70, perTenant: 700 })
})

test('export quotas of a tenant are shown, set, and set back to the default', async () => {
  const standard = { tenant: 'acme', exports_per_day: 200, mb_kept: 10_240, own: {} }
  expect(await json('tenant', 'export-quota', 'acme')).toEqual(standard)
  expect(await json('tenant', 'export-quota', 'acme', '--per-day', '50')).toEqual({
    ...standard,
    exports_per_day: 50,
    own: { exports_per_day: 50 },
  })
  const { stdout } = await runCli(['tenant', 'export-quota', 'acme', '--mb-kept', '2048'], lab.env)
  expect(stdout).toBe('Tenant acme: 50 exports within 24 hours (its own), 2,048 MiB of files (its own).\n')
  expect(await json('tenant', 'export-quota', 'acme', '--per-day', 'default', '--mb-kept', 'default')).toEqual(standard)
})

test('a backup is refused while its disk has less free space than the floor', async () => {
  // That file system has no free space, whatever the machine.
  const { code, stderr } = await failure('backup', '/proc')
  expect(code).toBe(1)
  expect(stderr).toMatch(/Storage is full: the disk that the backup/)
})

test('a welcome link can be made again, and migrating twice does nothing', async () => {
  const link = await json('tenant', 'welcome-link', 'acme')
  expect(Object.keys(link)).toEqual(['tenant', 'mode', 'admin_email', 'welcome_url', 'welcome_expires_at'])
  expect((await fetch(link.welcome_url as string)).status).toBe(200)
  expect(await json('migrate')).toEqual({ applied: [] })
})

test('without --json it says what to do next', async () => {
  const { code, stdout } = await runCli(
    [
      'tenant',
      'create',
      'hooli',
      '--mode',
      'C',
      '--admin-email',
      'gavin@hooli.example',
      '--base-url',
      'http://hooli.localhost:9',
    ],
    lab.env,
  )
  expect(code).toBe(0)
  expect(stdout).toContain('http://hooli.localhost:9/welcome/hooli/')
  expect(stdout).toContain('service-account create --tenant hooli')
})

describe('a mistake is told with what to do, on stderr', () => {
  test.each([
    [['tenant', 'create', 'acme', '--mode', 'A', '--admin-email', 'a@b.example'], /already exists.*welcome-link acme/],
    [['tenant', 'create', 'Up', '--mode', 'A', '--admin-email', 'ab'], /slug must be[\s\S]*admin-email must be/],
    [['tenant', 'welcome-link', 'nowhere'], /The tenant "nowhere" does not exist[\s\S]*tenant create/],
    [['tenant', 'export-quota', 'nowhere'], /The tenant "nowhere" does not exist[\s\S]*tenant create/],
    [['tenant', 'export-quota', 'acme', '--per-day', '0'], /per-day must be a whole number of 1 to 1000000/],
    [['service-account', 'create', '--tenant', 'nowhere', '--name', 'x', '--scope', 'hub:read'], /no tenant "nowhere"/],
    [['service-account', 'create', '--tenant', 'acme', '--name', 'x', '--scope', 'hub:raed'], /"hub:raed".*hub:read /],
    [['archetypes', 'set', '--tenant', 'acme', 'fine', 'not fine'], /"not fine".*1 to 128 of the characters/],
  ])('%j', async (args, message) => {
    const { code, stderr } = await failure(...args)
    expect(code).toBe(1)
    expect(stderr).toMatch(message)
  })

  test.each([
    [['frobnicate'], /unknown command/],
    [['tenant', 'create', 'x1', '--admin-email', 'a@b.example'], /--mode/],
    [['tenant', 'create', 'x1', '--mode', 'D', '--admin-email', 'a@b.example'], /A, B, C/],
    [['tenant', 'limits', 'acme', 'everything', '1', '2'], /hub-read/],
    [['tenant', 'limits', 'acme', 'auth', 'many', '2'], /whole number/],
    [['tenant', 'export-quota', 'acme', '--mb-kept', 'much'], /whole number, or "default"/],
    [['service-account', 'create', '--tenant', 'acme'], /--name/],
    [['archetypes', 'set', '--tenant', 'acme'], /id/],
  ])('%j is misuse', async (args, message) => {
    const { code, stderr } = await failure(...args)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  test('a wrong master key', async () => {
    const other = { ...lab.env, HUB_MASTER_KEY: Buffer.alloc(32, 1).toString('base64') }
    const { code, stderr, stdout } = await runCli(['tenant', 'welcome-link', 'acme'], other)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).not.toMatch(/\n\s+at /)
    expect(stderr).toMatch(/another master key[\s\S]*HUB_MASTER_KEY/)
  })

  test('a configuration that is wrong in several places', async () => {
    const { code, stderr } = await runCli(['migrate'], { ...lab.env, HUB_PORT: 'x', HUB_MASTER_KEY: 'y' })
    expect(code).toBe(1)
    expect(stderr).toMatch(/HUB_PORT[\s\S]*HUB_MASTER_KEY/)
  })
})

test('a command finds the address of a service that was told its port on its command line', async () => {
  const { HUB_BASE_URL: _, HUB_DATA_DIR: dataDir = '', ...rest } = lab.env
  const service = await startHubProcess(dataDir, rest)
  try {
    const { stdout } = await runCli(['tenant', 'welcome-link', 'acme', '--json'], { ...rest, HUB_DATA_DIR: dataDir })
    const link = (JSON.parse(stdout) as { welcome_url: string }).welcome_url
    expect(link.startsWith(`${service.url}/welcome/acme/`)).toBe(true)
    expect(await (await fetch(link)).text()).toContain('Welcome to acme')
  } finally {
    await service.stop()
  }
})

test('the version is that of the package', async () => {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'))
  expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test('help says what each job does, and has an example where it helps', async () => {
  const { stdout } = await runCli(['jobs', 'run', '--help'])
  for (const job of ['fold-rollups', 'hard-delete', 'integrate-log', 'sweep']) {
    expect(stdout).toMatch(new RegExp(`^  ${job} {2,}\\w+ .{20}`, 'm'))
  }
  for (const name of ['verify', 'log audit', 'backup', 'restore', 'keys rotate', 'jobs run']) {
    const help = await runCli([...name.split(' '), '--help'])
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining(`Example:\n  npm run hub -- ${name} `)])
  }
  expect((await runCli(['verify', '--help'])).stdout).toContain('include_provenance')
})

test('a file of checkpoints that is not there is told with what to name instead', async () => {
  const { code, stderr } = await failure('log', 'audit', '--against', '/nowhere/x')
  expect(code).toBe(2)
  expect(stderr).toMatch(
    /\/nowhere\/x with checkpoints cannot be read: the file does not exist\.\nName a file of HUB_CHECKP/,
  )
  expect(stderr).not.toContain('ENOENT')
})

test('help names every command, and asking for it is no mistake', async () => {
  const { code, stdout } = await runCli(['--help'])
  expect(code).toBe(0)
  for (const name of ['serve', 'migrate', 'tenant', 'service-account', 'archetypes']) expect(stdout).toContain(name)
})
