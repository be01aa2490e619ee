import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import type { AccessControl } from '../../server/http/caller.ts'
import { type CredentialCharges, credentialCharges } from '../../server/http/rate-limits/credential-charges.ts'
import { MemoryRateLimiter, type RateLimiter } from '../../server/http/rate-limits/rate-limiter.ts'

const memory = new MemoryRateLimiter()
/** Of all counters that were asked for. */
const keys: string[] = []
const limiter: RateLimiter = {
  take: (charges) => {
    keys.push(...charges.map((charge) => charge.key))
    return memory.take(charges)
  },
  refund: (charges, takenAtMs) => memory.refund(charges, takenAtMs),
}

/** The charges of one request. */
function chargesAt(address: string): CredentialCharges {
  const request = { callerAddress: address } as FastifyRequest
  const reply = { header: () => reply } as unknown as FastifyReply
  const limitsOf = async () => ({})
  return credentialCharges(request, reply, { limiter, limitsOf, limitFactor: 1, access: {} as AccessControl })
}

/** How many of those pass until one is refused. */
async function passing(work: (index: number) => Promise<void>): Promise<number> {
  for (let index = 0; index < 200; index += 1) {
    const slug = await work(index).then(
      () => undefined,
      (error: DomainError) => error.slug,
    )
    if (slug !== undefined) {
      expect(slug).toBe('rate-limited')
      return index
    }
  }
  return Number.POSITIVE_INFINITY
}

test('calls that need no credential count against their address', async () => {
  expect(await passing(() => chargesAt('192.0.2.1').attempt())).toBe(100)
  expect(await passing(() => chargesAt('192.0.2.2').attempt())).toBe(100)
})

test('with an id they count against address and id too', async () => {
  expect(await passing(() => chargesAt('192.0.2.3').attempt('kim@example.com'))).toBe(10)
  expect(await passing(() => chargesAt('192.0.2.3').attempt('lee@example.com'))).toBe(10)
  expect(await passing((index) => chargesAt('192.0.2.3').attempt(`${index}`))).toBe(80)
})

test('wrong credentials count as much, with an id and without', async () => {
  expect(await passing(() => chargesAt('192.0.2.4').failed())).toBe(10)
  expect(await passing(() => chargesAt('192.0.2.4').failed('a'))).toBe(10)
  expect(await passing((index) => chargesAt('192.0.2.4').failed(`id-${index}`))).toBe(80)
  // The last /64 is one caller, whatever addresses it takes.
  expect(await passing((index) => chargesAt(`2001:db8::${index.toString(16)}`).failed('a'))).toBe(10)
})

test('a right one is let in after any number of wrong ones, and counted once', async () => {
  await passing(() => chargesAt('192.0.2.5').failed('a'))
  await passing((index) => chargesAt('192.0.2.5').failed(`id-${index}`))
  expect(await passing(() => chargesAt('192.0.2.5').succeed('a', 'acme'))).toBe(10)
  expect(await passing(() => chargesAt('192.0.2.6').succeed('b', 'acme'))).toBe(10)
})

test('an attempt that succeeds is no longer counted as a stranger’s', async () => {
  const roundTrip = async (index: number) => {
    const charges = chargesAt('192.0.2.7')
    await charges.attempt('c')
    await charges.succeed(`session-${index}`, 'globex')
  }
  for (let index = 0; index < 30; index += 1) await roundTrip(index)
  expect(await passing(() => chargesAt('192.0.2.7').attempt('c'))).toBe(10)
})

test('an id that is an e-mail address is not kept as such', () => {
  expect(keys.some((key) => key.includes('192.0.2.3'))).toBe(true)
  expect(keys.filter((key) => key.includes('example.com'))).toEqual([])
})

test('wrong credentials of an office keep nobody there from beginning to sign in, nor the reverse', async () => {
  expect(await passing((index) => chargesAt('192.0.2.8').failed(`id-${index}`))).toBe(100)
  expect(await passing(() => chargesAt('192.0.2.8').failed('a'))).toBe(0)
  expect(await passing(() => chargesAt('192.0.2.8').attempt('a'))).toBe(10)
  expect(await passing(() => chargesAt('192.0.2.8').attempt())).toBe(90)
  expect(await passing(() => chargesAt('192.0.2.9').attempt())).toBe(100)
  expect(await passing(() => chargesAt('192.0.2.9').failed('a'))).toBe(10)
  expect(await passing(() => chargesAt('192.0.2.13').failed('a'))).toBe(10)
  expect(await passing(() => chargesAt('192.0.2.13').attempt('a'))).toBe(10)
})

test('what is done at any rate is counted, and never refused', async () => {
  for (let index = 0; index < 30; index += 1) await chargesAt('192.0.2.10').count('d', 'initech')
  expect(await passing(() => chargesAt('192.0.2.10').succeed('d', 'initech'))).toBe(0)
})

test('a refusal of what nothing was counted for counts as a wrong credential, or against the address alone', async () => {
  const unreadable = new DomainError('validation-failed', 'wrong')
  for (let index = 0; index < 80; index += 1) await chargesAt('192.0.2.11').refused(unreadable)
  const problem = new DomainError('authentication-failed', 'none')
  for (let index = 0; index < 10; index += 1) expect(await chargesAt('192.0.2.11').refused(problem)).toBe(problem)
  expect(await chargesAt('192.0.2.11').refused(problem)).toMatchObject({ slug: 'rate-limited' })
  expect(await passing(() => chargesAt('192.0.2.11').failed())).toBe(0)
})

test('a refusal is not counted twice, nor where the service itself failed', async () => {
  const address = '192.0.2.12'
  const counted: ((charges: CredentialCharges) => Promise<void>)[] = [
    (charges) => charges.attempt(),
    (charges) => charges.failed('a'),
    (charges) => charges.succeed('e', 'umbrella'),
    (charges) => charges.count('e', 'umbrella'),
  ]
  for (const count of counted) {
    const charges = chargesAt(address)
    await count(charges)
    await charges.refused(new DomainError('not-found', 'There is none.'))
  }
  await chargesAt(address).refused(new DomainError('hub-unavailable', 'Later.'))
  await chargesAt(address).refused(new DomainError('rate-limited', 'Later.'))
  expect(await passing(() => chargesAt(address).failed())).toBe(10)
})
