/** First segments of the paths at which the web UI has its pages, besides `/`. What is below them is the UI's. */
export const webPaths = ['records', 'governance', 'exports', 'onboarding', 'webhooks', 'settings', 'usage'] as const
