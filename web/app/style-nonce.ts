/** What the page's policy admits styles by that libraries write into it: a fresh value for each answer of the server. */
export function styleNonce(): string {
  const carrier = document.querySelector<HTMLElement>('meta[property="csp-nonce"]')
  return carrier?.nonce ?? ''
}
