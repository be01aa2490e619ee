import { badPortWords } from './bad-ports.ts'

const systemWords: Readonly<Record<string, string>> = {
  ENOTFOUND: 'has a host name that does not resolve',
  EAI_AGAIN: 'has a host name that cannot be resolved right now',
  ECONNREFUSED: 'refuses the connection',
  ECONNRESET: 'broke the connection off',
  EPIPE: 'broke the connection off',
  UND_ERR_SOCKET: 'broke the connection off',
  ETIMEDOUT: 'does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'does not answer',
  UND_ERR_HEADERS_OVERFLOW: 'answered with headers that are too large',
  HPE_HEADER_OVERFLOW: 'answered with headers that are too large',
}

/** Describes a failure below HTTP, worded to follow an address, by its innermost known code. */
export function describeNetworkError(error: unknown): string {
  let code: string | undefined
  for (let inner = error, depth = 0; depth < 8 && inner instanceof Error; inner = inner.cause, depth += 1) {
    code = (inner as NodeJS.ErrnoException).code ?? code
    if (inner.message === 'bad port') return badPortWords
  }
  return (code && systemWords[code]) ?? `could not be reached${code ? ` (${code})` : ''}`
}
