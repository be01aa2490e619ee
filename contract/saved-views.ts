/** Pages of the web UI whose state can be saved under a name. */
export const viewPages = ['command-center', 'records', 'deliveries', 'governance'] as const

export type ViewPage = (typeof viewPages)[number]
