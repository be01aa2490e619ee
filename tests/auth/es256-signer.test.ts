import { generateKeyPairSync, verify } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { createEs256Signer } from '../../server/modules/auth/tokens/es256-signer.ts'
import { inLowForm } from './signature-forms.ts'

type Signer = ReturnType<typeof createEs256Signer>

const one = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const marking = new URL('./threads/marking.ts', import.meta.url)
const ending = new URL('./threads/ending.ts', import.meta.url)

function isSigned(content: string, signature: string, { publicKey } = one): boolean {
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
  return verify('sha256', Buffer.from(content), key, Buffer.from(signature, 'base64url'))
}

let made = 0
const contentsOf = (count: number) => Array.from({ length: count }, () => `content ${made++}`)

/** Signs in one turn of the event loop. */
async function signTogether(sign: Signer, count: number) {
  const contents = contentsOf(count)
  const signatures = await Promise.all(contents.map((content) => sign(content, one.privateKey)))
  return contents.map((content, at) => ({ content, signature: signatures[at]! }))
}

const isMarked = ({ content, signature }: { content: string; signature: string }) => signature === `there: ${content}`
const isGood = (each: { content: string; signature: string }) =>
  isMarked(each) || isSigned(each.content, each.signature)

/** Until the thread has signed some of what one turn asked for. */
async function signUntilThere(sign: Signer) {
  for (;;) {
    const all = await signTogether(sign, 40)
    expect(all.filter((each) => !isGood(each))).toEqual([])
    if (all.some(isMarked)) return all
  }
}

describe('ES256', () => {
  test('every signature is that of its own content, alone and among many', async () => {
    for (const sign of [createEs256Signer({ isAlone: false }), createEs256Signer({ isAlone: true })]) {
      for (const count of [1, 3, 4, 5, 500, 1]) {
        const all = await signTogether(sign, count)
        expect(all.filter(({ content, signature }) => !isSigned(content, signature))).toEqual([])
        expect(all.filter(({ signature }) => inLowForm(`..${signature}`) !== `..${signature}`)).toEqual([])
        expect(all).toHaveLength(count)
      }
    }
  })

  test('the thread signs what it is sent, in order, by the key that comes with it', async () => {
    const worker = new Worker(new URL('../../server/modules/auth/tokens/signing-worker.ts', import.meta.url))
    try {
      expect(await once(worker, 'message')).toEqual(['ready'])
      for (const pair of [one, other]) {
        const contents = contentsOf(4)
        const answered = once(worker, 'message') as Promise<[string[]]>
        worker.postMessage({ key: pair.privateKey, contents })
        const [signatures] = await answered
        expect(contents.map((content, at) => isSigned(content, signatures[at]!, pair))).toEqual([
          true,
          true,
          true,
          true,
        ])
      }
    } finally {
      await worker.terminate()
    }
  })

  test('several keys in one turn are not mixed up', async () => {
    const sign = createEs256Signer({ isAlone: false })
    await signTogether(sign, 40)
    const pairs = [one, one, one, other, one, other, other, other, other, other, one]
    const all = await Promise.all(
      pairs.map(async (pair) => {
        const [content = ''] = contentsOf(1)
        return isSigned(content, await sign(content, pair.privateKey), pair)
      }),
    )
    expect(all).toEqual(pairs.map(() => true))
  })

  test('of many, some are signed by another thread, the rest here; one alone is signed here', async () => {
    const sign = createEs256Signer({ entry: marking, isAlone: false })
    await signUntilThere(sign)
    const more = await signTogether(sign, 200)
    expect(more.filter((each) => !isGood(each))).toEqual([])
    // No more than it can be sent at once: 4 tasks of 4.
    expect(more.filter(isMarked)).toHaveLength(16)
    const [alone] = await signTogether(sign, 1)
    expect(isSigned(alone!.content, alone!.signature)).toBe(true)
  })

  test('what a thread was given that ends is signed here, and another thread is started', async () => {
    const sign = createEs256Signer({ entry: ending, isAlone: false })
    const first = await signUntilThere(sign)
    expect(first.filter(isMarked)).toHaveLength(4)
    const second = await signUntilThere(sign)
    expect(second.filter(isMarked)).toHaveLength(4)
  })

  test('a key that cannot sign is an error, not a wait', async () => {
    const sign = createEs256Signer({ isAlone: false })
    await expect(sign('content', one.publicKey)).rejects.toThrow(/key/i)
    const many = await Promise.allSettled(contentsOf(40).map((content) => sign(content, one.publicKey)))
    expect(many.map(({ status }) => status)).toEqual(many.map(() => 'rejected'))
    expect(await signTogether(sign, 8)).toHaveLength(8)
  })
})
