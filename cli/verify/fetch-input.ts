import { fileProblem } from '../../server/startup-error.ts'
import { InconclusiveError } from './inconclusive-error.ts'

const timeoutMs = 60_000
/** Maximum bytes of keys and manifests, which are held in memory. */
const bytesMax = 1024 * 1024 * 1024

export function isUrl(place: string): boolean {
  return /^https?:\/\//i.test(place)
}

/**
 * Fetches an address of the command line. Throws InconclusiveError for http beyond this machine, where an attacker on
 * the path could insert keys, and for any response but 200.
 */
export async function fetchInput(address: string): Promise<Uint8Array[]> {
  const url = new URL(address)
  if (url.protocol !== 'https:' && !['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)) {
    throw new InconclusiveError(`${address} is not fetched: http can be changed on the way.`, 'Use an https address.')
  }
  const fix = 'Fetch it yourself, and give the file instead.'
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'error' })
    if (answer.status !== 200) throw new InconclusiveError(`${address} answers ${answer.status}.`, fix)
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of answer.body ?? []) {
      chunks.push(chunk)
      size += chunk.length
      if (size > bytesMax) throw new InconclusiveError(`${address} answers more than ${bytesMax} bytes.`, fix)
    }
    return chunks
  } catch (error) {
    if (error instanceof InconclusiveError) throw error
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    throw new InconclusiveError(`${address} cannot be fetched: ${fileProblem(cause)}.`, fix, { cause: error })
  }
}
