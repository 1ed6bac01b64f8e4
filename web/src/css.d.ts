/** Style sheets are bundled by their import and have no value. */
declare module '*.css';
