import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

type Entry = Record<string, unknown>

/** What a test has the directory do otherwise than it should. Undefined members change nothing. */
export interface ScimSourceFaults {
  /** Answers in place of what it would; undefined lets the request pass. Sees each request once. */
  answer?: (
    request: SourceRequest,
  ) => { status: number; headers?: Record<string, string>; body?: string | Buffer } | undefined
  /** Waits so long before each answer. */
  slowMs?: number
  /** Says another total than there is. */
  total?: (total: number, request: SourceRequest) => unknown
  /** Gives other entries than were asked for. */
  entries?: (entries: Entry[], all: Entry[], request: SourceRequest) => unknown
}

export interface SourceRequest {
  resource: string
  startIndex: number
  count: number | undefined
  withoutMembers: boolean
  /** How many were received before it. */
  number: number
}

/** A company's directory that speaks SCIM 2.0, on a loopback port. */
export interface FakeScimSource {
  baseUrl: string
  token: string
  users: Entry[]
  groups: Entry[]
  faults: ScimSourceFaults
  /** `GET /Users?startIndex=1&count=200` and the like, oldest first. */
  requests: string[]
  /** Number of requests that it has answered, even if nobody waits for the answer any more. */
  answers: number
  /** Gives no more entries at a time, whatever is asked for; undefined ignores `count`. */
  pageMax: number | undefined
  /** The next request, of that path where it is given, that arrives. */
  nextRequest(path?: string): Promise<void>
  stop(): Promise<void>
}

/** As many people as are wanted, and groups that hold every n-th of them. */
export function manyPeople(count: number, domain = 'acme.example'): Entry[] {
  return Array.from({ length: count }, (_, index) => personEntry(`person-${index}`, domain))
}

export function personEntry(name: string, domain = 'acme.example', more: Entry = {}): Entry {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    id: `id-${name}`,
    externalId: `ext-${name}`,
    userName: `${name}@${domain}`,
    name: { givenName: name, familyName: 'Example' },
    displayName: `${name} Example`,
    emails: [{ value: `${name}@${domain}`, type: 'work', primary: true }],
    active: true,
    ...more,
  }
}

export function groupEntry(name: string, members: readonly Entry[], more: Entry = {}): Entry {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    id: `gid-${name}`,
    displayName: name,
    members: members.map((member) => ({ value: member.id, display: member.displayName })),
    ...more,
  }
}

export async function startScimSource(options: { users?: Entry[]; groups?: Entry[] } = {}): Promise<FakeScimSource> {
  let waiting: { path: string | undefined; resolve: () => void }[] = []
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      response.destroy(error as Error)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const source: FakeScimSource = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/scim/v2`,
    token: 'token-of-the-directory-4711',
    users: options.users ?? [],
    groups: options.groups ?? [],
    faults: {},
    requests: [],
    answers: 0,
    pageMax: 1000,
    nextRequest: (path) => new Promise((resolve) => waiting.push({ path, resolve })),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', source.baseUrl)
    const path = url.pathname.replace('/scim/v2', '')
    source.requests.push(`${request.method} ${path}${url.search}`)
    const asked = readRequest(url, path, source.requests.length - 1)
    const heard = waiting.filter((each) => each.path === undefined || each.path === path)
    waiting = waiting.filter((each) => !heard.includes(each))
    for (const each of heard) each.resolve()
    if (source.faults.slowMs !== undefined) await delay(source.faults.slowMs)
    source.answers += 1
    const fault = source.faults.answer?.(asked)
    if (fault) return void response.writeHead(fault.status, fault.headers).end(fault.body ?? '')
    if (request.headers.authorization !== `Bearer ${source.token}`) return void response.writeHead(401).end()
    const answer = answerTo(source, path, asked)
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/scim+json' })
    response.end(JSON.stringify(answer ?? {}))
  }
  return source
}

function readRequest(url: URL, path: string, number: number): SourceRequest {
  const count = url.searchParams.get('count')
  return {
    resource: path.split('/')[1] ?? '',
    startIndex: Number(url.searchParams.get('startIndex') ?? 1),
    count: count === null ? undefined : Number(count),
    withoutMembers: url.searchParams.get('excludedAttributes') === 'members',
    number,
  }
}

function answerTo(source: FakeScimSource, path: string, asked: SourceRequest): unknown {
  if (path === '/ServiceProviderConfig') return { filter: { supported: true } }
  const [, resource, id] = path.split('/')
  const all = resource === 'Users' ? source.users : resource === 'Groups' ? source.groups : undefined
  if (!all) return undefined
  if (id !== undefined) return all.find((entry) => entry.id === decodeURIComponent(id))
  const { pageMax, faults } = source
  const count = pageMax === undefined ? all.length : Math.min(asked.count ?? pageMax, pageMax)
  const page = all.slice(asked.startIndex - 1, asked.startIndex - 1 + count)
  const shown = asked.withoutMembers ? page.map(({ members: _, ...entry }) => entry) : page
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: faults.total ? faults.total(all.length, asked) : all.length,
    startIndex: asked.startIndex,
    itemsPerPage: shown.length,
    Resources: faults.entries ? faults.entries(shown, all, asked) : shown,
  }
}
