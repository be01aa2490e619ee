/**
 * Whether the Hub runs in development, where the UI offers demo data and calls some checks optional. The served page
 * says so; without the word it is staging or production.
 */
export const isDevelopment =
  document.querySelector<HTMLMetaElement>('meta[name="hub-environment"]')?.content === 'development'
