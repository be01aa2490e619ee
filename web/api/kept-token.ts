import { decodeJwt } from 'jose'
import { fromHex, toHex } from '../../provenance/bytes.ts'
import { apiBaseUrl } from './api-base-url.ts'

/** An access token as tabs share it. */
export interface AccessToken {
  accessToken: string
  /** By the clock of this machine. */
  renewAtMs: number
}

/** The session whose cookie the browser has, and the key that its tabs share. */
interface PageSession {
  sessionId: string
  key: CryptoKey
}

/** What is encrypted: the token, and how many pages have taken it from the storage. */
interface StoredToken extends AccessToken {
  pages: number
}

const itemName = 'hub-token'
/** The command center makes 13 calls, and the Hub answers 1,000 reads a minute of one token. */
const pagesOfToken = 50
const ivBytes = 12

let session: Promise<PageSession | undefined> | undefined

/** Reads the session of this page once. Without a session, or without WebCrypto, it is undefined. */
function pageSession(): Promise<PageSession | undefined> {
  session ??= readSession().catch(() => {
    // The next call tries again: there was no connection, say.
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

/** Tells whether the cookie of a session came with this page. One that another site linked to has none, for example. */
export function cameWithSession(): boolean {
  return sessionMeta(document) !== undefined
}

function sessionMeta(page: Document): string | undefined {
  return page.querySelector<HTMLMetaElement>('meta[name="hub-session"]')?.content
}

/**
 * Gets the page once more. Browsers send the strict cookie of the session with this call, but not with a page that a link
 * on another site opened, nor to another host than the API's.
 */
async function pageOfApi(): Promise<Document> {
  const response = await fetch(`${apiBaseUrl}/`, { credentials: 'include' })
  return new DOMParser().parseFromString(await response.text(), 'text/html')
}

/** Tells whether a token belongs to the session whose cookie this page was opened with. */
export async function isOfThisSession({ accessToken }: AccessToken): Promise<boolean> {
  const { sid } = decodeJwt<{ sid?: string }>(accessToken)
  return sid !== undefined && sid === (await pageSession())?.sessionId
}

/**
 * Stores an access token for the pages of this session, encrypted: storage alone gives it to nobody, and a page that
 * belongs to another session cannot read it.
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
    // Storage is switched off or full: the next page asks for a token of its own.
  }
}

/**
 * Returns the stored access token where it is of this session and good for a while, to a limited number of pages: so many
 * that are opened within a minute do not reach the limit of one token.
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
    // It was stored by another session.
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

/** Removes the stored token, whoever stored it. */
export function removeStoredToken(): void {
  try {
    localStorage.removeItem(itemName)
  } catch {
    // Storage is switched off: nothing was stored.
  }
}
