import { decodeJwt } from 'jose'
import { fromHex, toHex } from '../../provenance/bytes.ts'
import { apiBaseUrl } from './api-base-url.ts'

/** An access token as tabs share it. */
export interface AccessToken {
  accessToken: string
  /** The time for renewal, by the clock of this machine. */
  renewAtMs: number
}

/** The session of the browser's cookie, and the key that its tabs share. */
interface PageSession {
  sessionId: string
  key: CryptoKey
}

/** The encrypted content: the token, and the number of pages that have taken it from the storage. */
interface StoredToken extends AccessToken {
  pages: number
}

const itemName = 'hub-token'
/**
 * Maximum number of pages per token: the command center makes 13 calls, and the Hub permits 1,000 reads a minute per
 * token.
 */
const pagesOfToken = 50
const ivBytes = 12

let session: Promise<PageSession | undefined> | undefined

/** Reads the session of this page once. Returns undefined without a session or without WebCrypto. */
function pageSession(): Promise<PageSession | undefined> {
  session ??= readSession().catch(() => {
    // The next call tries again, for example after a lost connection.
    session = undefined
    return undefined
  })
  return session
}

async function readSession(): Promise<PageSession | undefined> {
  if (!window.isSecureContext) return undefined
  const [sessionId, key] = (sessionMeta(document) ?? sessionMeta(await pageOfApi()))?.split(' ') ?? []
  if (!sessionId || !key) return undefined
  const raw = new Uint8Array(fromHex(key))
  return { sessionId, key: await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt']) }
}

/**
 * Returns true if the cookie of a session came with this page. A page that another site linked to has none, for
 * example.
 */
export function cameWithSession(): boolean {
  return sessionMeta(document) !== undefined
}

function sessionMeta(page: Document): string | undefined {
  return page.querySelector<HTMLMetaElement>('meta[name="hub-session"]')?.content
}

/**
 * Fetches the page once more. Browsers send the strict cookie of the session with this call, but not with a page that a
 * link on another site opened, nor to another host than the API's.
 */
async function pageOfApi(): Promise<Document> {
  const response = await fetch(`${apiBaseUrl}/`, { credentials: 'include' })
  return new DOMParser().parseFromString(await response.text(), 'text/html')
}

/** Returns true if a token belongs to the session whose cookie this page was opened with. */
export async function isOfThisSession({ accessToken }: AccessToken): Promise<boolean> {
  const { sid } = decodeJwt<{ sid?: string }>(accessToken)
  return sid !== undefined && sid === (await pageSession())?.sessionId
}

/**
 * Stores an access token for the pages of this session, encrypted: storage alone reveals it to nobody, and a page of
 * another session cannot read it.
 */
export async function storeToken({ accessToken, renewAtMs }: AccessToken, pages = 0): Promise<void> {
  const token: StoredToken = { accessToken, renewAtMs, pages }
  const current = await pageSession()
  if (current === undefined || !(await isOfThisSession(token))) return
  const iv = crypto.getRandomValues(new Uint8Array(ivBytes))
  const text = new TextEncoder().encode(JSON.stringify(token))
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, current.key, text)
  try {
    localStorage.setItem(itemName, toHex(iv) + toHex(new Uint8Array(sealed)))
  } catch {
    // Storage is switched off or full: the next page requests its own token.
  }
}

/**
 * Returns the stored access token if it belongs to this session and remains valid for a while. Only a limited number of
 * pages may take it, so that many pages opened within a minute do not reach the rate limit of one token.
 */
export async function takeStoredToken(): Promise<AccessToken | undefined> {
  const sealed = readItem()
  const current = sealed && (await pageSession())
  if (!current) return undefined
  try {
    const bytes = new Uint8Array(fromHex(sealed))
    const iv = bytes.subarray(0, ivBytes)
    const text = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, current.key, bytes.subarray(ivBytes))
    const token: StoredToken = JSON.parse(new TextDecoder().decode(text))
    const isGood = Date.now() < token.renewAtMs && token.pages < pagesOfToken && (await isOfThisSession(token))
    if (!isGood) return undefined
    await storeToken(token, token.pages + 1)
    return token
  } catch {
    // Another session stored it.
    return undefined
  }
}

function readItem(): string | null {
  try {
    return localStorage.getItem(itemName)
  } catch {
    return null
  }
}

/** Removes the stored token, regardless of the session that stored it. */
export function removeStoredToken(): void {
  try {
    localStorage.removeItem(itemName)
  } catch {
    // Storage is switched off: no token was stored.
  }
}
