import { addressSearch, text } from '../../components/search-schemas.ts'

/** The skill or pack whose details are open, and the search text for names. */
export const skillsSearch = addressSearch({ skill: text(128), pack: text(128), search: text(128) })
