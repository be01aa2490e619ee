/**
 * Returns the nonce by which the page's policy admits styles that libraries insert: a fresh value for each response of
 * the server.
 */
export function styleNonce(): string {
  const carrier = document.querySelector<HTMLElement>('meta[property="csp-nonce"]')
  return carrier?.nonce ?? ''
}
