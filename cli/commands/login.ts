import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text as readAll } from 'node:stream/consumers'
import type { Command } from 'commander'
import { HubClient, HubConnectionError } from '../../sdk/typescript/src/index.ts'
import { SettingReader } from '../../server/config/setting-reader.ts'
import type { Me } from '../../server/modules/auth/auth-types.ts'
import { ConfigError } from '../../server/startup-error.ts'
import { addressIn } from '../hub-address.ts'
import { hubConnection, loginFile, namesAccount } from '../hub-connection.ts'
import { endLogin } from '../login/end-login.ts'
import { NotSignedInError } from '../login/login-errors.ts'
import type { LoginFile, StoredLogin } from '../login/login-file.ts'
import { logInPerson } from '../login/person-login.ts'
import { personTokens } from '../login/person-tokens.ts'
import { example, type OutputOptions, printResult, UsageError } from '../output.ts'
import { wholeNumber } from '../query-options.ts'
import { terminalText } from '../terminal-text.ts'

/** The scopes that the commands need, as far as the role of the person has them. */
const usualScopes = 'hub:read hub:write telemetry:read'

interface LoginOptions extends OutputOptions {
  tenant?: string
  clientId?: string
  scope: string
  port: number
  browser: boolean
}

export function addLoginCommand(program: Command): void {
  program
    .command('login [address]')
    .description(
      'Sign in to a Hub, for the commands after it. Opens a browser, in which you choose what they may do. With ' +
        '--client-id signs in as a service account instead, with the secret from HUB_CLIENT_SECRET, its file or ' +
        'stdin. Replaces an earlier login. The address defaults to HUB_URL.',
    )
    .option('--tenant <slug>', 'the tenant; default: HUB_TENANT, and for people the one chosen in the browser')
    .option('--client-id <id>', 'sign in as this service account')
    .option('--scope <scopes>', 'the permissions to ask for, separated by spaces', usualScopes)
    .option('--no-browser', 'only print the address to open')
    .option('--port <number>', 'the port of this machine that the browser returns to', wholeNumber(0, 65_535), 0)
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('login https://hub.example.com'))
    .action(runLogin)
}

export function addLogoutCommand(program: Command): void {
  program
    .command('logout')
    .description('End the stored login: the Hub refuses its tokens within five seconds, and the file is removed')
    .option('--local', 'only remove the file, if the Hub cannot be reached')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('logout'))
    .action(runLogout)
}

export function addWhoamiCommand(program: Command): void {
  program
    .command('whoami')
    .description('Show who the commands act as, at which Hub, and with which permissions')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('whoami'))
    .action(async (options: OutputOptions) => {
      const { options: connection, source } = await hubConnection()
      const me = await whoIs(connection)
      printResult(options, { hub_url: connection.baseUrl, source, ...me }, meText(me, connection.baseUrl, source))
    })
}

async function runLogin(address: string | undefined, options: LoginOptions): Promise<void> {
  const hubUrl = hubAddress(address)
  const wanted = options.tenant ?? (process.env.HUB_TENANT || undefined)
  const login = options.clientId
    ? await accountLogin(hubUrl, wanted, options.clientId)
    : await logInPerson(hubUrl, {
        scope: options.scope,
        port: options.port,
        opensBrowser: options.browser,
        show: (page) => process.stderr.write(`Open this address to sign in:\n  ${terminalText(page)}\n`),
      })
  const file = loginFile()
  const credentials =
    login.kind === 'person'
      ? { accessToken: login.access_token }
      : { clientId: login.client_id, clientSecret: login.client_secret }
  const connection = { baseUrl: hubUrl, tenant: login.tenant, ...credentials, retries: 1 }
  const me = await whoIs(connection)
  if (wanted !== undefined && wanted !== login.tenant) {
    await new HubClient(connection).post('/api/v1/auth/logout')
    throw new NotSignedInError(`You signed in to tenant ${login.tenant}, not ${wanted}. The login was ended.`)
  }
  await replace(file, login)
  const hint = namesAccount(process.env)
    ? '\nHUB_CLIENT_ID or HUB_CLIENT_SECRET are set and win over this login: unset them.'
    : ''
  printResult(options, { hub_url: hubUrl, source: file.path, ...me }, `${meText(me, hubUrl, file.path)}${hint}`)
}

/** Stores a login, and ends the earlier one. A failure of that is a warning, because the new login works. */
async function replace(file: LoginFile, login: StoredLogin): Promise<void> {
  const warn = (reason: string) =>
    process.stderr.write(
      `The earlier login was not ended: ${terminalText(reason)}\n` +
        'It may stay valid for up to 8 hours. End it in the Hub, among the sessions of your account.\n',
    )
  const earlier = await file.exclusively(async () => {
    const found = await file.read().catch((error: Error) => error)
    await file.write(login)
    return found
  })
  if (earlier instanceof Error) return void warn(earlier.message)
  if (earlier?.kind !== 'person') return
  try {
    if (!(await endLogin(earlier))) warn('The Hub did not confirm it.')
  } catch (error) {
    warn((error as Error).message)
  }
}

/** Returns the address of the argument, else that of HUB_URL. */
function hubAddress(argument: string | undefined): string {
  if (argument) return addressIn(argument, 'The address', UsageError)
  if (process.env.HUB_URL) return addressIn(process.env.HUB_URL, 'HUB_URL')
  throw new UsageError('The address of the Hub is missing.', 'Run: hub login https://hub.example.com')
}

async function runLogout({ local, ...options }: OutputOptions & { local?: boolean }): Promise<void> {
  const file = loginFile()
  let text = 'The stored login is removed. Its tokens stay valid until they expire.'
  let revoked = false
  if (!local) {
    const login = await file.read()
    if (login === undefined) throw new NotSignedInError('You are not signed in.', 'There is nothing to end.')
    revoked = await end(file, login)
    text = revoked ? 'The login is ended.' : `The login file is removed. ${stillValid[login.kind]}`
  }
  await file.exclusively(() => file.remove())
  printResult(options, { revoked }, text)
}

const stillValid = {
  person: 'The Hub did not confirm the end of the login: its tokens may stay valid until they expire.',
  service_account: 'The secret of the service account stays valid: revoke it in the Hub.',
}

/** Returns true if the login has ended at the Hub. */
async function end(file: LoginFile, login: StoredLogin): Promise<boolean> {
  // The secret of a service account belongs to more programs than this one, so it stays valid.
  if (login.kind !== 'person') return false
  try {
    return await endLogin(login, personTokens(file, login))
  } catch (error) {
    if (!(error instanceof HubConnectionError)) throw error
    throw new HubConnectionError(
      `${error.message}\nThe login is not ended. Try again later, or remove only the file with: hub logout --local`,
      { cause: error },
    )
  }
}

async function accountLogin(hubUrl: string, tenant: string | undefined, clientId: string): Promise<StoredLogin> {
  if (tenant === undefined) throw new UsageError('The tenant is missing.', 'Give it with --tenant.')
  const reader = new SettingReader(process.env)
  const given = reader.text('HUB_CLIENT_SECRET')
  if (reader.problems.length > 0) throw new ConfigError(reader.problems)
  const secret = given ?? (await readSecret())
  if (secret === '') {
    throw new UsageError(
      'The secret is missing.',
      'Set HUB_CLIENT_SECRET or HUB_CLIENT_SECRET_FILE, or write the secret to stdin.',
    )
  }
  return { kind: 'service_account', version: 1, hub_url: hubUrl, tenant, client_id: clientId, client_secret: secret }
}

/** Reads the secret from stdin; on a terminal without showing it. */
async function readSecret(): Promise<string> {
  if (!process.stdin.isTTY) return (await readAll(process.stdin)).trim()
  process.stderr.write('Client secret: ')
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const prompt = createInterface({ input: process.stdin, output: hidden, terminal: true })
  try {
    return (await prompt.question('')).trim()
  } finally {
    prompt.close()
    process.stderr.write('\n')
  }
}

function whoIs(connection: ConstructorParameters<typeof HubClient>[0]): Promise<Me> {
  return new HubClient(connection).get<Me>('/api/v1/auth/me')
}

function meText(me: Me, hubUrl: string, source: string): string {
  const name = me.email ?? me.name ?? me.subject
  const lines = [
    `Signed in as ${name}${me.role ? `, ${me.role}` : ''}${me.kind === 'service_account' ? ', a service account' : ''}`,
    `Tenant: ${me.tenant} at ${hubUrl}`,
    `Permissions: ${me.scopes.join(' ')}`,
    ...(me.session ? [`Ends: ${me.session.expires_at}`] : []),
    `Credentials: ${source}`,
  ]
  return lines.map(terminalText).join('\n')
}
