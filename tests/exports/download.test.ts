import { randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { patience } from '../support/machine-speed.ts'
import { type ExportJobsLab, startExportJobsLab } from './export-jobs-lab.ts'

const content = Array.from({ length: 5000 }, (_, at) => `{"row":${at}}\n`).join('')

let lab: ExportJobsLab
let file: URL
let manifest: URL
beforeAll(async () => {
  lab = await startExportJobsLab()
  lab.letGo(content)
  const done = await lab.completed('acme')
  file = new URL(done.download_url)
  manifest = new URL(done.manifest_url)
})
afterAll(() => {
  // The client may have opened a connection in place of the one that it gave up, and never have used it.
  const stopped = lab.hub.stop()
  lab.hub.app.server.closeAllConnections()
  return stopped
})

/** The whole answer is read: a connection with an answer that nobody reads keeps a server from stopping. */
async function get(url: URL | string, headers: Record<string, string> = {}, method = 'GET') {
  const answer = await fetch(url, { method, headers })
  const bytes = Buffer.from(await answer.arrayBuffer())
  return { status: answer.status, headers: answer.headers, bytes, text: bytes.toString() }
}
const altered = (change: (url: URL) => void) => {
  const url = new URL(file)
  change(url)
  return url
}

describe('a whole file', () => {
  test('comes with all that a client needs to keep it', async () => {
    const answer = await get(file)
    expect(answer.status).toBe(200)
    expect(answer.text).toBe(content)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-length': String(content.length),
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': `attachment; filename="${file.pathname.split('/').at(-1)}"`,
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^"[\w-]{27}"$/),
    })
    expect(answer.headers.has('ratelimit')).toBe(true)
  })

  test('and its manifest, which is another file', async () => {
    const answer = await get(manifest)
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { manifest_version: 1 }])
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('etag')).not.toBe((await get(file, {}, 'HEAD')).headers.get('etag'))
  })

  test.each([
    [{ format: 'csv' }, 'text/csv; charset=utf-8; header=present', /\.csv$/],
    [{ format: 'parquet' }, 'application/vnd.apache.parquet', /\.parquet$/],
    [{ format: 'csv', compression: 'gzip' }, 'application/gzip', /\.csv\.gz$/],
  ])('is called what it is: %j', async (body, type, name) => {
    const { download_url } = await lab.completed('acme', body)
    const answer = await get(download_url)
    expect(answer.headers.get('content-type')).toBe(type)
    expect(answer.headers.has('content-encoding')).toBe(false)
    expect(new URL(download_url).pathname).toMatch(name)
  })

  test('can be asked about first, with HEAD', async () => {
    const [head, whole] = [await get(file, { range: 'bytes=5-9' }, 'HEAD'), await get(file)]
    expect([head.status, head.text]).toEqual([200, ''])
    for (const name of ['content-length', 'etag', 'accept-ranges', 'content-type']) {
      expect([name, head.headers.get(name)]).toEqual([name, whole.headers.get(name)])
    }
  })
})

describe('a part of a file', () => {
  test.each([
    ['bytes=0-0', 0, 0],
    ['bytes=10-19', 10, 19],
    ['bytes=10-', 10, content.length - 1],
    ['bytes=-7', content.length - 7, content.length - 1],
    ['bytes=-9999999', 0, content.length - 1],
    [`bytes=10-${content.length + 5}`, 10, content.length - 1],
    ['BYTES=3-4', 3, 4],
  ])('%s', async (range, start, end) => {
    const answer = await get(file, { range })
    expect([answer.status, answer.headers.get('content-range')]).toEqual([
      206,
      `bytes ${start}-${end}/${content.length}`,
    ])
    expect(answer.headers.get('content-length')).toBe(String(end - start + 1))
    expect(answer.text).toBe(content.slice(start, end + 1))
  })

  test.each(['bytes=5-3', 'bytes=0-1,5-6', 'lines=0-1', 'bytes=-', 'bytes=a-b', 'bytes=0x1-2', ''])(
    'what is no single range is answered with the whole: %j',
    async (range) => {
      const answer = await get(file, { range })
      expect([answer.status, answer.text.length]).toEqual([200, content.length])
    },
  )

  test.each([`bytes=${content.length}-`, 'bytes=99999999-99999999', 'bytes=-0'])('%s is not there', async (range) => {
    const answer = await get(file, { range })
    expect([answer.status, answer.headers.get('content-range')]).toEqual([416, `bytes */${content.length}`])
    expect(JSON.parse(answer.text)).toMatchObject({
      type: expect.stringMatching(/range-not-satisfiable$/),
      status: 416,
    })
  })

  test('is only sent to who has the rest of the same file', async () => {
    const etag = (await get(file, {}, 'HEAD')).headers.get('etag') as string
    const part = await get(file, { range: 'bytes=1-2', 'if-range': etag })
    expect([part.status, part.text]).toEqual([206, content.slice(1, 3)])
    for (const ifRange of ['"another"', `W/${etag}`, new Date().toUTCString()]) {
      const whole = await get(file, { range: 'bytes=1-2', 'if-range': ifRange })
      expect([ifRange, whole.status, whole.text.length]).toEqual([ifRange, 200, content.length])
    }
  })

  test('a download that broke off goes on where it was', async () => {
    const large = randomBytes(20_000_000).toString('base64')
    lab.letGo(large)
    const { download_url } = await lab.completed('acme')
    lab.letGo(content)
    const started = await fetch(download_url)
    const reader = started.body?.getReader()
    const first = (await reader?.read())?.value as Uint8Array
    await reader?.cancel()
    const etag = started.headers.get('etag') as string
    const rest = await get(download_url, { range: `bytes=${first.length}-`, 'if-range': etag })
    expect(rest.status).toBe(206)
    expect(Buffer.concat([first, rest.bytes]).equals(Buffer.from(large))).toBe(true)
  })
})

describe('an address', () => {
  const problemOf = async (url: URL, headers: Record<string, string> = {}) => {
    const answer = await get(url, headers)
    const { type, detail, status } = JSON.parse(answer.text)
    return { status, detail, slug: type.split('/').at(-1) }
  }
  const refusal = {
    status: 403,
    slug: 'invalid-download-url',
    detail: 'This address is invalid or has expired. Get the export for its current address.',
  }

  test('is the tenant’s own, and says of whom, which and until when', async () => {
    expect(file.origin).toBe(lab.hub.baseUrl)
    expect(file.pathname).toMatch(/^\/api\/v1\/hub\/exports\/exp_\w{24}\/exp_\w{24}\.jsonl$/)
    expect([...file.searchParams.keys()]).toEqual(['tenant', 'expires', 'signature'])
  })

  test.each<[string, (url: URL) => void]>([
    ['another tenant', (url) => url.searchParams.set('tenant', 'globex')],
    ['a tenant that nobody has', (url) => url.searchParams.set('tenant', 'nobody')],
    ['a later end', (url) => url.searchParams.set('expires', String(Number(url.searchParams.get('expires')) + 1))],
    ['another spelling of the end', (url) => url.searchParams.set('expires', `0${url.searchParams.get('expires')}`)],
    [
      'the file for its manifest',
      (url) => {
        url.pathname += '.manifest.json'
      },
    ],
    [
      'another file',
      (url) => {
        url.pathname = url.pathname.replace(/[^/]+$/, 'other.jsonl')
      },
    ],
    [
      'a way out',
      (url) => {
        url.pathname = url.pathname.replace(/[^/]+$/, '..%2F..%2Fmaster.key')
      },
    ],
    [
      'another export',
      (url) => {
        url.pathname = url.pathname.replaceAll('exp_', 'exp_A')
      },
    ],
    [
      'a signature cut short',
      (url) => url.searchParams.set('signature', String(url.searchParams.get('signature')).slice(1)),
    ],
    ['a signature with a letter more', (url) => url.searchParams.append('signature', '')],
    [
      'another spelling of the signature',
      (url) => url.searchParams.set('signature', `${url.searchParams.get('signature')}=`),
    ],
    ['no signature', (url) => url.searchParams.delete('signature')],
    ['no end', (url) => url.searchParams.delete('expires')],
    ['no tenant', (url) => url.searchParams.delete('tenant')],
    [
      'nothing',
      (url) => {
        url.search = ''
      },
    ],
  ])('with %s opens nothing', async (name, change) => {
    const url = altered(change)
    const problem = await problemOf(url)
    // A parameter twice is refused everywhere.
    if (name === 'a signature with a letter more') expect(problem).toMatchObject({ status: 400 })
    else expect(problem).toEqual(refusal)
    if (name !== 'a signature with a letter more') expect(await problemOf(url, { range: 'bytes=0-1' })).toEqual(refusal)
  })

  test('with any bit of the signature changed opens nothing', async () => {
    const bytes = Buffer.from(file.searchParams.get('signature') as string, 'base64url')
    for (let at = 0; at < bytes.length; at += 1) {
      const other = Buffer.from(bytes)
      other[at] = (other[at] as number) ^ (1 << (at % 8))
      const url = altered((each) => each.searchParams.set('signature', other.toString('base64url')))
      expect(await problemOf(url)).toEqual(refusal)
    }
  })

  test('needs nothing else, and takes no parameter besides', async () => {
    expect((await get(file, { 'x-service-tenant': 'globex', authorization: 'Bearer nonsense' })).status).toBe(200)
    expect((await get(altered((url) => url.searchParams.set('more', '1')))).status).toBe(400)
  })

  test('of a cancelled or deleted export opens nothing', async () => {
    const { job_id, download_url } = await lab.completed('acme')
    const key = `exports/acme/${job_id}/${job_id}.jsonl`
    await lab.hub.modules.storage.delete(key)
    expect(await problemOf(new URL(download_url))).toEqual(refusal)
    const client = await lab.hub.superuserClient()
    for (const status of ['cancelled', 'failed', 'running', 'queued', 'expired']) {
      await client.query('update hub.exports set status = $2 where job_id = $1', [job_id, status])
      expect(await problemOf(new URL(download_url))).toEqual(refusal)
    }
  })

  test('counts as a read of the Hub: for the export, or when it is wrong against the address alone', async () => {
    const policies = async (url: URL) => (await get(url)).headers.get('ratelimit-policy')
    expect(await policies(file)).toBe('"token";q=1000000;w=60, "tenant";q=10000000;w=60')
    const wrong = altered((url) => url.searchParams.set('expires', '1'))
    expect(await policies(wrong)).toBe('"address";q=10000000;w=60')
  })

  test('is not written to the log', async () => {
    await get(file)
    await get(altered((url) => url.searchParams.set('tenant', 'globex')))
    expect(lab.hub.logLines.join('')).not.toContain(file.searchParams.get('signature'))
  })
})

test('each whole file is an event, and parts of one are one a minute, with address and request', async () => {
  const { job_id, download_url, manifest_url } = await lab.completed('acme', { compression: 'gzip', format: 'csv' })
  const requestId = '019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'
  await get(download_url, {}, 'HEAD')
  await get(download_url, { range: 'bytes=0-1', 'x-service-request-id': requestId })
  await get(download_url, { range: 'bytes=2-3' })
  await get(manifest_url)
  const events = async () =>
    (await lab.events('acme', 'hub.export_downloaded')).filter(({ subject }) => subject === `export:${job_id}`)
  const file = `${job_id}.csv.gz`
  const by = { address: '127.0.0.1', actor: 'download-url' }
  expect((await events()).map(({ details }) => details)).toEqual([
    expect.objectContaining({ file, ...by, first_range: 'bytes=0-1', request_id: requestId }),
    expect.objectContaining({ file: `${file}.manifest.json`, ...by, bytes: 22 }),
  ])
  // The whole file, by a range too, however often.
  const { bytes } = await get(download_url)
  await get(download_url)
  await get(download_url, { range: 'bytes=0-' })
  expect((await events()).slice(2).map(({ details }) => [details.file, details.bytes, details.first_range])).toEqual(
    Array(3).fill([file, bytes.length, undefined]),
  )
  lab.advance(61_000)
  await get(download_url, { range: 'bytes=4-5' })
  await get(download_url, { range: 'bytes=6-7' })
  expect((await events()).slice(5)).toMatchObject([{ details: { file, first_range: 'bytes=4-5' } }])
  await get(altered((url) => url.searchParams.set('expires', '1')))
  expect(await events()).toHaveLength(6)
})

test('whoever goes away before the end has the file closed', async () => {
  lab.letGo('x'.repeat(50_000_000))
  const { download_url } = await lab.completed('acme')
  let opened: import('node:stream').Readable | undefined
  const { storage } = lab.hub.modules
  const { read } = storage
  storage.read = async (...key) => {
    opened = await read.apply(storage, key)
    return opened
  }
  try {
    const aborting = new AbortController()
    const answer = await fetch(download_url, { signal: aborting.signal })
    await answer.body?.getReader().read()
    expect(opened?.destroyed).toBe(false)
    aborting.abort()
    await expect.poll(() => opened?.closed).toBe(true)
    // What nobody takes is not read: far less than the whole had left the disk.
    expect((opened as unknown as { bytesRead: number }).bytesRead).toBeLessThan(20_000_000)
  } finally {
    storage.read = read
    lab.letGo(content)
  }
})

test('a tenant with its own address has its files there alone', async () => {
  const { modules, app } = lab.hub
  const own = { mode: 'C', adminEmail: 'admin@c.example' } as const
  for (const slug of ['customer', 'neighbour']) {
    const tenant = { ...own, slug, baseUrl: `http://${slug}.localhost` }
    await modules.tenants.administration.create(tenant, { operator: 'test' })
  }
  const host = 'customer.localhost'
  const tenant = await modules.tenants.directory.find('customer')
  const account = { name: 'exports', scopes: ['hub:read'] as const }
  const credentials = await modules.auth.serviceAccounts.create(tenant!, account, { operator: 'test' })
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...pick(credentials) })
  const granted = await app.inject({
    ...{ method: 'POST', url: '/api/v1/oauth/token', payload: form.toString() },
    headers: { host, 'content-type': 'application/x-www-form-urlencoded' },
  })
  const headers = { host, authorization: `Bearer ${granted.json().access_token}`, 'x-service-tenant': 'customer' }
  const ordered = await app.inject({ method: 'POST', url: '/api/v1/hub/records:export', headers })
  const address = await vi.waitFor(
    async () =>
      new URL((await app.inject({ url: String(ordered.headers.location), headers })).json().download_url as string),
    patience,
  )
  expect(address.origin).toBe('http://customer.localhost')
  const statusAt = async (at: string) =>
    (await app.inject({ url: address.pathname + address.search, headers: { host: at } })).statusCode
  expect(await statusAt(host)).toBe(200)
  expect(await statusAt(new URL(lab.hub.baseUrl).host)).toBe(403)
  expect(await statusAt('neighbour.localhost')).toBe(403)
})

const pick = ({ client_id, client_secret }: { client_id: string; client_secret: string }) => ({
  client_id,
  client_secret,
})

test('a compressed file is sent as it is', async () => {
  const bytes = gzipSync(content)
  const { job_id, download_url } = await lab.completed('acme', { compression: 'gzip' })
  await lab.hub.modules.storage.write(`exports/acme/${job_id}/${job_id}.jsonl.gz`, bytes)
  const answer = await get(download_url, { 'accept-encoding': 'gzip' })
  expect(gunzipSync(answer.bytes).toString()).toBe(content)
})
