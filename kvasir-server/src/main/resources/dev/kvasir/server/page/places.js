const PLACES = { memory: 'Memory', disk: 'Disk', redis: 'Redis' };

/** Display names of the places that cached prefixes come from. */
export const placeName = place => PLACES[place] ?? place;
