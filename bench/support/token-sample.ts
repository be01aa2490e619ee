import { createRemoteJWKSet, jwtVerify } from 'jose'

/** One response of this many is kept. */
export const keptOneIn = 500
const tokensMin = 5

export interface TokenSample {
  /** Takes a response of a token endpoint. */
  add(answer: Buffer): void
  /**
   * Verifies every kept token against the keys that the server publishes.
   *
   * @returns their number
   * @throws Error if one is not an ES256 access token (RFC 9068) with these scopes, occurs twice, or there are too few
   */
  verify(server: { jwksUri: string; scope: string }): Promise<number>
}

export function sampleTokens(): TokenSample {
  const tokens: string[] = []
  let seen = 0
  return {
    add(answer) {
      if (seen++ % keptOneIn > 0) return
      const token = /"access_token":"([^"]+)"/.exec(answer.toString())?.[1]
      // The load generator delivers a response in two pieces if a network read ended inside it.
      if (token === undefined) seen--
      else tokens.push(token)
    },
    async verify({ jwksUri, scope }) {
      const keys = createRemoteJWKSet(new URL(jwksUri))
      const ids = new Set<unknown>()
      for (const token of tokens) {
        const { payload } = await jwtVerify(token, keys, { algorithms: ['ES256'], typ: 'at+jwt' })
        if (payload.scope !== scope) throw new Error(`a token has the scopes ${payload.scope}, not ${scope}`)
        ids.add(payload.jti)
      }
      if (ids.size < tokens.length) throw new Error('a token was issued twice')
      if (ids.size < tokensMin) throw new Error(`only ${ids.size} tokens could be looked at`)
      return ids.size
    },
  }
}
