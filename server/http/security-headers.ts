/** Headers of every JSON answer: nothing is cached, sniffed, framed or referred. No CORS: browsers of other sites stay out. */
export const apiHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** One year, for services that are reached by https only. */
export const strictTransport = { 'strict-transport-security': 'max-age=31536000' } as const
