/** The build of axios without the CommonJS packages of its Node build. An ES module bundle that holds those cannot start. */
declare module 'axios/dist/browser/axios.cjs' {
  export { default } from 'axios';
}
