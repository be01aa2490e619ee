import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AllowList } from '../../server/outbound/address-guard.ts'
import { createNameResolver, type NameResolverOptions, type Resolve } from '../../server/outbound/name-resolver.ts'
import { createOutbound } from '../../server/outbound/outbound.ts'
import { type DnsAnswer, type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { scaled } from '../support/machine-speed.ts'

/** How names of tenants are resolved, against a DNS server. */

let dns: DnsServer
const zone = new Map<string, DnsAnswer | ((type: 'A' | 'AAAA') => DnsAnswer | Promise<DnsAnswer>)>()
beforeAll(async () => {
  dns = await startDnsServer((name, type) => {
    const answer = zone.get(name) ?? 'not-found'
    return typeof answer === 'function' ? answer(type) : answer
  })
})
afterAll(() => dns.stop())
beforeEach(() => {
  zone.clear()
  dns.asked.length = 0
})

/** What the system is asked, and answers: inside addresses of every name that ends in `.hosts`. */
let systemAsked: string[] = []
const hostsFile: Resolve = async (host) => {
  systemAsked.push(host)
  if (host.endsWith('.hosts')) return [{ address: '10.0.0.7', family: 4 }]
  throw Object.assign(new Error('no such host'), { code: 'ENOTFOUND' })
}
beforeEach(() => {
  systemAsked = []
})

function namesOf(allow: string[] = [], { dns: dnsOptions, ...options }: NameResolverOptions = {}): Resolve {
  const quick = { servers: [dns.address], tryMs: scaled(150), timeoutMs: scaled(600), otherFamilyMs: scaled(150) }
  return createNameResolver(new AllowList(allow), { dns: { ...quick, ...dnsOptions }, system: hostsFile, ...options })
}
const addressesOf = async (found: ReturnType<Resolve>) => (await found).map(({ address }) => address)

describe('a name of DNS', () => {
  test('has the addresses of both families, IPv4 first, asked for side by side', async () => {
    zone.set('both.example', ['2001:db8::1', '192.0.2.1', '192.0.2.2'])
    const found = await namesOf()('both.example')
    expect(found).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ])
    expect(dns.asked.toSorted()).toEqual(['both.example A', 'both.example AAAA'])
    expect(systemAsked).toEqual([])
  })

  test.each([
    ['an answer', ['192.0.2.1'] as const],
    ['no record', [] as const],
    ['a failure', 'server-failure' as const],
    ['silence', 'hang' as const],
  ])('has those of one family where the other has %s', async (_name, other) => {
    for (const [family, address] of [
      ['A', '192.0.2.9'],
      ['AAAA', '2001:db8::9'],
    ] as const) {
      zone.set('half.example', (type) => (type === family ? [address] : other))
      expect(await addressesOf(namesOf()('half.example'))).toContain(address)
    }
  })

  test('whose first question is lost is asked for again', async () => {
    let asked = 0
    zone.set('lossy.example', () => (++asked <= 2 ? 'hang' : ['192.0.2.1']))
    expect(await addressesOf(namesOf()('lossy.example'))).toEqual(['192.0.2.1'])
  })

  test.each(['server-failure', 'hang', 'gone'] as const)(
    'is asked of the next server after a first one: %s',
    async (how) => {
      const first = await startDnsServer(() => (how === 'gone' ? 'hang' : how))
      if (how === 'gone') await first.stop()
      zone.set('name.example', ['192.0.2.1'])
      const resolve = namesOf([], { dns: { servers: [first.address, dns.address] } })
      expect(await addressesOf(resolve('name.example'))).toEqual(['192.0.2.1'])
      if (how !== 'gone') await first.stop()
    },
  )

  test('is not remembered, though its record may be for an hour', async () => {
    const resolve = namesOf()
    for (const address of ['192.0.2.1', '192.0.2.2']) {
      zone.set('moving.example', [address])
      expect(await addressesOf(resolve('moving.example'))).toEqual([address])
    }
  })

  test('is one with capitals or a dot at the end, and is asked for as it stands where it has one part', async () => {
    zone.set('name.example', ['192.0.2.1'])
    zone.set('single', ['192.0.2.2'])
    expect(await addressesOf(namesOf()('Name.Example.'))).toEqual(['192.0.2.1'])
    expect(await addressesOf(namesOf()('single'))).toEqual(['192.0.2.2'])
    await expect(namesOf()('other')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    expect(new Set(dns.asked.map((question) => question.split(' ')[0]))).toEqual(
      new Set(['name.example', 'single', 'other']),
    )
  })

  test('with other letters is asked for in its ASCII form', async () => {
    zone.set('xn--bcher-kva.example', ['8.8.8.8'])
    const outbound = createOutbound({ environment: 'production', outboundAllow: [] }, { resolve: namesOf() })
    expect(await outbound.resolvedProblemOf('https://bücher.example/')).toBeUndefined()
    expect(dns.asked.toSorted()).toEqual(['xn--bcher-kva.example A', 'xn--bcher-kva.example AAAA'])
    await outbound.close()
  })

  test('is asked for once by all who want it at the same moment, and again by those who come later', async () => {
    zone.set('wanted.example', async () => {
      await delay(20)
      return ['192.0.2.1']
    })
    const resolve = namesOf()
    const all = await Promise.all(Array.from({ length: 50 }, () => addressesOf(resolve('wanted.example'))))
    expect(new Set(all.flat())).toEqual(new Set(['192.0.2.1']))
    expect(dns.asked).toHaveLength(2)
    await resolve('wanted.example')
    expect(dns.asked).toHaveLength(4)
  })
})

test.each(['192.0.2.1', '2001:db8::1'])('%s is its own address, and nobody is asked', async (address) => {
  expect(await addressesOf(namesOf()(address))).toEqual([address])
  expect([dns.asked, systemAsked]).toEqual([[], []])
})

describe('a name without an answer', () => {
  const outboundWords = async (host: string, names = namesOf()) => {
    const outbound = createOutbound(
      { environment: 'production', outboundAllow: [] },
      { resolve: names, timeoutMs: scaled(10_000) },
    )
    const url = `https://${host}/`
    const post = outbound.post(url, { headers: {}, body: Buffer.from('{}') }).catch((error) => error)
    const words = [outbound.fetch(url).catch((error) => error), post].map(async (failure) => (await failure).message)
    const all = await Promise.all([...words, outbound.resolvedProblemOf(url)])
    await outbound.close()
    expect(new Set(all).size).toBe(1)
    return all[0]
  }

  test.each([
    ['that does not exist', 'not-found', 'has a host name that does not resolve'],
    ['that has no address', [], 'has a host name that does not resolve'],
    ['whose servers fail', 'server-failure', 'has a host name that cannot be resolved right now'],
    ['whose servers hang', 'hang', 'has a host name that cannot be resolved right now'],
  ] as const)('%s is told apart', async (_name, answer, words) => {
    zone.set('bad.example', answer)
    expect(await outboundWords('bad.example')).toBe(words)
  })

  test('because DNS itself refuses is not one that refuses the connection', async () => {
    const gone = await startDnsServer(() => 'hang')
    await gone.stop()
    const names = namesOf([], { dns: { servers: [gone.address] } })
    expect(await outboundWords('name.example', names)).toBe('has a host name that cannot be resolved right now')
  })

  test('because it is too long to be one does not resolve', async () => {
    expect(await outboundWords(`${'x'.repeat(64)}.example`)).toBe('has a host name that does not resolve')
    expect(dns.asked).toEqual([])
  })

  test('ends in time, and silence of a hundred names holds up no other', async () => {
    for (let index = 0; index < 100; index += 1) zone.set(`hang-${index}.example`, 'hang')
    zone.set('well.example', ['192.0.2.1'])
    const resolve = namesOf([], { dns: { tryMs: 600_000, timeoutMs: scaled(1_000) } })
    let ended = 0
    const hanging = Array.from({ length: 100 }, (_, index) =>
      resolve(`hang-${index}.example`).catch(({ code }) => {
        ended += 1
        return code
      }),
    )
    expect(await addressesOf(resolve('well.example'))).toEqual(['192.0.2.1'])
    expect(ended).toBe(0)
    expect(new Set(await Promise.all(hanging))).toEqual(new Set(['EAI_AGAIN']))
  })
})

describe('the system is asked', () => {
  test('alone for names on the allow-list, however they are written', async () => {
    const resolve = namesOf(['idp.hosts'])
    for (const host of ['idp.hosts', 'IDP.hosts.']) expect(await addressesOf(resolve(host))).toEqual(['10.0.0.7'])
    expect([dns.asked, systemAsked]).toEqual([[], ['idp.hosts', 'idp.hosts']])
    await expect(resolve('other.hosts')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    expect(systemAsked).toHaveLength(2)
  })

  test('for what DNS does not know where a network is allowed, and for nothing else', async () => {
    const resolve = namesOf(['10.0.0.0/8'])
    expect(await addressesOf(resolve('inside.hosts'))).toEqual(['10.0.0.7'])
    zone.set('empty.hosts', [])
    expect(await addressesOf(resolve('empty.hosts'))).toEqual(['10.0.0.7'])
    zone.set('known.hosts', ['192.0.2.1'])
    expect(await addressesOf(resolve('known.hosts'))).toEqual(['192.0.2.1'])
    for (const answer of ['hang', 'server-failure'] as const) {
      zone.set('failing.hosts', answer)
      await expect(resolve('failing.hosts')).rejects.toMatchObject({ code: 'EAI_AGAIN' })
    }
    await expect(resolve('nowhere.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    expect(systemAsked).toEqual(['inside.hosts', 'empty.hosts', 'nowhere.example'])
  })

  test('where a network is allowed and there is no DNS', async () => {
    const gone = await startDnsServer(() => 'hang')
    await gone.stop()
    const resolve = namesOf(['10.0.0.0/8'], { dns: { servers: [gone.address] } })
    expect(await addressesOf(resolve('inside.hosts'))).toEqual(['10.0.0.7'])
  })

  test('for one such name after the other, and none waits for ever', async () => {
    const answers = new Map<string, () => void>()
    const system: Resolve = (host) => {
      systemAsked.push(host)
      return new Promise((found) => answers.set(host, () => found([{ address: '10.0.0.7', family: 4 }])))
    }
    const resolve = namesOf(['10.0.0.0/8', 'named.hosts'], { system, systemMs: scaled(300) })
    const outcomes = ['one.hosts', 'two.hosts'].map((host) => resolve(host).catch(({ code }) => code))
    expect(await Promise.all(outcomes)).toEqual(['EAI_AGAIN', 'EAI_AGAIN'])
    // The first still holds its thread; who has left the queue is not asked for any more.
    expect(systemAsked).toHaveLength(1)
    const third = resolve('three.hosts')
    await expect.poll(() => dns.asked).toContain('three.hosts AAAA')
    answers.get(systemAsked[0]!)!()
    await expect.poll(() => systemAsked.at(-1)).toBe('three.hosts')
    expect(systemAsked).toHaveLength(2)
    answers.get('three.hosts')!()
    expect(await addressesOf(third)).toEqual(['10.0.0.7'])
    // Those that the operator named do not queue.
    const named = resolve('named.hosts')
    const fourth = resolve('four.hosts')
    await expect.poll(() => systemAsked.slice(2).toSorted()).toEqual(['four.hosts', 'named.hosts'])
    for (const host of ['named.hosts', 'four.hosts']) answers.get(host)!()
    await Promise.all([named, fourth])
  })
})

describe('a connection by such a name', () => {
  const server = createServer((request, response) => response.end(`here is ${request.headers.host}`))
  let port = 0
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  beforeAll(async () => {
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => new Promise((closed) => server.close(closed)))
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })
  const open = (allow: string[]) => {
    const outbound = createOutbound({ environment: 'development', outboundAllow: allow }, { resolve: namesOf(allow) })
    closing.push(() => outbound.close())
    return outbound
  }

  test('goes to the address that answers, of either family', async () => {
    const v6 = createServer((_request, response) => response.end('v6'))
    const hasV6 = await new Promise<boolean>((known) => {
      v6.on('error', () => known(false)).listen(0, '::1', () => known(true))
    })
    const cases: [number, string[], string][] = [
      [port, ['127.0.0.1', '::1'], `here is name.example:${port}`],
      [port, ['127.0.0.99', '127.0.0.1'], `here is name.example:${port}`],
    ]
    // Some machines have no IPv6 at all.
    if (hasV6) cases.push([(v6.address() as AddressInfo).port, ['127.0.0.99', '::1'], 'v6'])
    const outbound = open(['127.0.0.0/8', '::1'])
    for (const [at, addresses, body] of cases) {
      zone.set('name.example', addresses)
      const answer = await outbound.fetch(`http://name.example:${at}/`, { headers: { connection: 'close' } })
      expect(await answer.text()).toBe(body)
    }
    if (hasV6) await new Promise((closed) => v6.close(closed))
  })

  test('is not made to an address inside, whichever family has it, also when it was public a moment ago', async () => {
    const before = connections
    const outbound = open([])
    const url = `http://rebinding.example:${port}/`
    const post = { headers: {}, body: Buffer.from('{}') }
    for (const answer of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['8.8.8.8', '::1'], ['::ffff:127.0.0.1']]) {
      zone.set('rebinding.example', ['8.8.8.8'])
      expect(await outbound.resolvedProblemOf(url)).toBeUndefined()
      zone.set('rebinding.example', answer)
      for (const call of [outbound.fetch(url), outbound.post(url, post)])
        await expect(call).rejects.toMatchObject({ failure: 'blocked' })
    }
    expect(connections).toBe(before)
  })

  test('is made although names of others hang', async () => {
    for (let index = 0; index < 50; index += 1) zone.set(`hang-${index}.example`, 'hang')
    zone.set('well.example', ['127.0.0.1'])
    const outbound = open(['127.0.0.1'])
    let ended = 0
    const hanging = Array.from({ length: 50 }, (_, index) =>
      outbound.fetch(`http://hang-${index}.example:${port}/`).catch(() => {
        ended += 1
      }),
    )
    const answer = await outbound.fetch(`http://well.example:${port}/`)
    expect([answer.status, ended]).toEqual([200, 0])
    await Promise.all(hanging)
    expect(ended).toBe(50)
  })
})
